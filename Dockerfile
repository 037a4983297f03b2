# Postrider in a container: relay, server and every command. compose.yaml starts it with what it needs.
# Pin the images by digest for production; SECURITY.md says how.
FROM eclipse-temurin:17-jdk AS build
WORKDIR /source
COPY . .
RUN ./mvnw -q -B -ntp -pl cli -am -Dmaven.test.skip=true package

FROM eclipse-temurin:25-jre
# Numbers, so that Kubernetes can tell that it is not root.
RUN groupadd --system --gid 10001 postrider \
 && useradd --system --uid 10001 --gid 10001 --create-home --home-dir /var/lib/postrider postrider \
 && mkdir /opt/postrider \
 && ln -s /opt/postrider/postrider /usr/local/bin/postrider
COPY --from=build /source/postrider /source/cli/target/single/postrider.jar /source/deploy/docker/health /opt/postrider/
ENV POSTRIDER_JAVA_OPTS=-XX:MaxRAMPercentage=75
USER 10001:10001
WORKDIR /var/lib/postrider
# Archived messages, and the database of up.
VOLUME /var/lib/postrider
# The server; the relay's health and metrics.
EXPOSE 7080 7081
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 CMD ["/opt/postrider/health"]
ENTRYPOINT ["postrider"]
CMD ["up"]
