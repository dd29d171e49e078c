# Epsilon Explorer for a class or a team, on the processor. Build and run:
#   docker build -t epsilon-explorer .
#   docker run -p 127.0.0.1:8501:8501 -v explorer:/data epsilon-explorer
# docs/class.md says what else a server needs: a name, TLS, memory, a backup.
FROM python:3.11-slim

# Give PyTorch's CPU index here (--build-arg): the default build brings gigabytes of CUDA along.
ARG PIP_EXTRA_INDEX_URL
WORKDIR /app
COPY requirements.txt .
RUN pip install --no-cache-dir -r requirements.txt

COPY app.py LICENSE README.md ./
COPY .streamlit .streamlit
COPY pages pages
COPY engine engine
COPY datasets datasets
COPY reference reference

# Runs, tables and features live in a volume; the program itself is read-only to its user.
RUN useradd --create-home --uid 10001 explorer && install -d -m 0700 -o explorer /data
USER explorer
ENV EXPLORER_HOME=/data EXPLORER_CACHE=/data/cache OMP_WAIT_POLICY=PASSIVE PYTHONDONTWRITEBYTECODE=1
VOLUME /data
EXPOSE 8501
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s CMD ["python", "-c", \
  "import urllib.request as u; u.urlopen('http://127.0.0.1:8501/_stcore/health', timeout=4)"]
CMD ["streamlit", "run", "app.py", "--server.port", "8501", "--server.address", "0.0.0.0"]
