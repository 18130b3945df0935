# optsum with what reads data sets, counts tokens and draws, and with CBC and GLPK; kernels are compiled in the build.
#   docker build -t optsum .
#   docker run --rm -v "$PWD:/data" optsum solve topics.jsonl --max-length 100 -o oracles.jsonl
FROM python:3.12-slim AS build
WORKDIR /src
COPY . .
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.12-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends coinor-cbc glpk-utils \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /wheels /wheels
# Bytecode would be a quarter of the image.
RUN pip install --no-cache-dir --no-compile "$(echo /wheels/optsum-*.whl)[report,hf,tokens,plots]" && rm -r /wheels
# Kernels for any processor of this kind, in a folder that whoever runs the image may write to.
ENV NUMBA_CACHE_DIR=/opt/optsum-kernels NUMBA_CPU_NAME=generic
RUN optsum warm-up --all && chmod -R a+rwX /opt/optsum-kernels
WORKDIR /data
ENTRYPOINT ["optsum"]
CMD ["--help"]
