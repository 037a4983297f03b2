# Postrider in a container: relay, server and every command. compose.yaml starts it with what it needs.
# SECURITY.md says how the digests of the images are renewed.
FROM eclipse-temurin:17-jdk@sha256:36d9a76dc231587873b103c68a789b85d91b41d314dda69730d6bc43a777f2a9 AS build
WORKDIR /source
COPY . .
RUN ./mvnw -q -B -ntp -pl cli -am -Dmaven.test.skip=true package

FROM eclipse-temurin:25-jre@sha256:15090d159279e5c158473eccb48cd87f57b3e3a47511a797eb5a7a7ea6f86b0f
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
