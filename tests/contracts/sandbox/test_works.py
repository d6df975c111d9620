"""Honest work goes on inside."""

from tests.contracts.sandbox.app import PYTHON, App


def test_honest_work_goes_on(app: App) -> None:
    """SB-49: git, a loopback server, Unix sockets, processes, shared memory."""
    code = """
import http.server, multiprocessing, os, socket, subprocess, threading, urllib.request
from multiprocessing import shared_memory as shm
server = http.server.HTTPServer(('localhost', 0), http.server.SimpleHTTPRequestHandler)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(urllib.request.urlopen(f'http://localhost:{server.server_port}/').status)
unix = socket.socket(socket.AF_UNIX); unix.bind('/tmp/s')
block = shm.SharedMemory(create=True, size=4096); block.close(); block.unlink()
with multiprocessing.get_context('fork').Pool(2) as pool: print(sum(pool.map(abs, [-1, -2])))
run = lambda *argv: subprocess.run(argv, check=True, capture_output=True, text=True).stdout
run('git', 'init', '-q', '.'); run('git', 'config', 'user.name', 'a'); run('git', 'config', 'user.email', 'a@b')
run('git', 'commit', '-q', '--allow-empty', '-m', 'x')
print(run('git', 'log', '--format=%s').strip(), os.path.expanduser('~'), __import__('getpass').getuser())
"""
    result = app.run(PYTHON, "-c", code)
    assert result.stdout_tail.decode().split() == ["200", "3", "x", "/home/agent", "agent"], result.stderr_tail
