# Postrider in a container: relay, server and every command. compose.yaml starts it with what it needs.
# Pin the images by digest for production; SECURITY.md says how.
FROM eclipse-temurin:17-jdk AS build
WORKDIR /source
COPY . .
RUN ./mvnw -q -B -ntp -pl cli -am -Dmaven.test.skip=true package

FROM eclipse-temurin:25-jre
RUN useradd --system --create-home --home-dir /var/lib/postrider postrider
COPY --from=build /source/cli/target/single/postrider.jar /opt/postrider/postrider.jar
USER postrider
WORKDIR /var/lib/postrider
EXPOSE 7080
ENTRYPOINT ["java", "-XX:+ExitOnOutOfMemoryError", "-XX:MaxRAMPercentage=75", "-jar", "/opt/postrider/postrider.jar"]
CMD ["up"]
