# A Chromium that runs beside Cairn and looks at web pages for it: see docs/kubernetes.md.
ARG BASE_IMAGE=debian:trixie-slim
FROM ${BASE_IMAGE}
RUN apt-get update && \
    apt-get install -y --no-install-recommends chromium fonts-dejavu-core && \
    rm -rf /var/lib/apt/lists/*
ENV HOME=/tmp
USER 65532:65532
ENTRYPOINT ["chromium"]
CMD ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", \
     "--disable-background-networking", "--disable-component-update", "--disable-extensions", "--disable-sync", "--disable-quic", \
     "--remote-debugging-port=9222", "--user-data-dir=/tmp/profile", "--window-size=1280,900", "--js-flags=--max-old-space-size=256", \
     "--force-webrtc-ip-handling-policy=disable_non_proxied_udp", "--enable-automation"]
