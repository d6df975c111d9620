# One image for web, workers and sweep. glibc on purpose: the wheels of the lock are for it.
# The digest is that of 3.12.14-slim-bookworm; a weekly job builds with the newest one of the tag.
ARG PYTHON=python:3.12-slim-bookworm@sha256:782412e85d0f0984994c290652577d4018aff08145c85b262bb63dc0c7522254

FROM ${PYTHON} AS build
WORKDIR /opt/remedy
RUN python -m venv /opt/venv
COPY requirements.lock ./
RUN /opt/venv/bin/pip install --no-cache-dir --no-deps --only-binary :all: --require-hashes -r requirements.lock
COPY pyproject.toml README.md LICENSE app.yml ./
COPY app app
COPY jobs jobs
COPY templates templates
RUN /opt/venv/bin/pip install --no-cache-dir --no-deps --no-build-isolation --editable . \
 && /opt/venv/bin/python -m compileall -q app jobs

FROM ${PYTHON}
# Debian's own fixes are wanted here, so no versions; only what proofs need besides Python.
# hadolint ignore=DL3008
RUN apt-get update -qq \
 && apt-get install -y -qq --no-install-recommends git bubblewrap ca-certificates \
 && rm -rf /var/lib/apt/lists/* \
 && groupadd --system --gid 10001 remedy \
 && useradd --system --uid 10001 --gid 10001 --home-dir /nonexistent --shell /usr/sbin/nologin remedy \
 && install -d -o remedy -g remedy -m 0700 /var/lib/remedy
COPY --from=build /opt/venv /opt/venv
COPY --from=build /opt/remedy /opt/remedy
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    REMEDY_DATA=/var/lib/remedy \
    REMEDY_HOST=0.0.0.0
# The only folders that are written are /var/lib/remedy and /tmp: run it with a read-only root.
VOLUME /var/lib/remedy
USER 10001:10001
EXPOSE 8000
# Who runs `web` asks /readyz (compose.yaml, deploy/kubernetes.yaml); a worker that cannot go on ends by itself.
ENTRYPOINT ["remedy"]
CMD ["web"]
