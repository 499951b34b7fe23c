# One image for every role: `docker build -t agentjournal .`, then docker-compose.yml.
# The servers of the local stack are not in it.

FROM python:3.13-slim AS build
WORKDIR /source
COPY . .
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels . ./server
RUN python server/image_requirements.py > /wheels/requirements.txt
RUN python -m venv --without-pip /opt/agentjournal \
 && pip --python /opt/agentjournal/bin/python install --no-cache-dir \
      --constraint constraints.txt --requirement /wheels/requirements.txt \
 && pip --python /opt/agentjournal/bin/python install --no-cache-dir --no-deps /wheels/*.whl

FROM python:3.13-slim
RUN useradd --system --uid 10001 --no-create-home agentjournal
COPY --from=build /opt/agentjournal /opt/agentjournal
ENV PATH=/opt/agentjournal/bin:$PATH PYTHONUNBUFFERED=1
USER agentjournal
# The roles of this container say in Postgres, every second, that they are alive.
HEALTHCHECK --interval=30s --timeout=10s --start-period=30s --retries=3 CMD ["agentjournal", "health"]
ENTRYPOINT ["agentjournal"]
CMD ["run", "sequencer", "projector"]
