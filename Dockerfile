# One image for web, workers and sweep. glibc on purpose: the wheels of the lock are for it.
ARG PYTHON=python:3.12-slim-bookworm

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
RUN apt-get update -qq \
 && apt-get install -y -qq --no-install-recommends git bubblewrap ca-certificates \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --uid 10001 --home-dir /nonexistent --shell /usr/sbin/nologin remedy \
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
USER remedy
EXPOSE 8000
ENTRYPOINT ["remedy"]
CMD ["web"]
