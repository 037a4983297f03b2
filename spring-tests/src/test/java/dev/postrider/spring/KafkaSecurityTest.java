package dev.postrider.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.postrider.kafka.server.KafkaServer;
import dev.postrider.message.NewMessage;
import dev.postrider.testkit.TestPostgres;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.ScramCredentialInfo;
import org.apache.kafka.clients.admin.ScramMechanism;
import org.apache.kafka.clients.admin.UserScramCredentialUpsertion;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Login and TLS of Spring reach a real Kafka. */
@Tag("OP-5")
class KafkaSecurityTest {
  private static final String PASSWORD = "of-the-store";
  private static final TopicPartition PARTITION = new TopicPartition("shop.orders", 0);

  @TempDir private static Path folder;
  private static KafkaServer kafka;
  private static Path keys;

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class Shop {}

  @BeforeAll
  static void start() throws Exception {
    keys = folder.resolve("keys.p12");
    keytool();
    kafka =
        KafkaServer.start(
            Map.of(
                "listener.name.tls.ssl.keystore.location",
                keys.toString(),
                "listener.name.tls.ssl.keystore.password",
                PASSWORD,
                "listener.name.tls.ssl.keystore.type",
                "PKCS12",
                "listener.name.tls.ssl.truststore.location",
                keys.toString(),
                "listener.name.tls.ssl.truststore.password",
                PASSWORD,
                "listener.name.tls.ssl.truststore.type",
                "PKCS12",
                "listener.name.tls.ssl.client.auth",
                "required"));
    try (Admin admin = admin()) {
      admin
          .createTopics(List.of(new NewTopic(PARTITION.topic(), 1, (short) 1)))
          .all()
          .get(30, TimeUnit.SECONDS);
      admin
          .createAcls(List.of(mayWrite("CN=localhost"), mayWrite("shop")))
          .all()
          .get(30, TimeUnit.SECONDS);
    }
  }

  private static AclBinding mayWrite(String user) {
    return new AclBinding(
        new ResourcePattern(ResourceType.TOPIC, PARTITION.topic(), PatternType.LITERAL),
        new AccessControlEntry("User:" + user, "*", AclOperation.WRITE, AclPermissionType.ALLOW));
  }

  @AfterAll
  static void stop() {
    kafka.close();
  }

  private static Admin admin() {
    return Admin.create(Map.of("bootstrap.servers", kafka.address()));
  }

  /** A key and its certificate, which both sides show and trust. */
  private static void keytool() throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
    command.addAll(
        List.of(
            ("-genkeypair -alias shop -keyalg EC -validity 2 -dname CN=localhost"
                    + " -ext SAN=dns:localhost -storetype PKCS12 -keystore %s -storepass %s")
                .formatted(keys, PASSWORD)
                .split(" ")));
    assertThat(new ProcessBuilder(command).inheritIO().start().waitFor()).isZero();
  }

  private static long records() throws Exception {
    try (Admin admin = admin()) {
      return admin
          .listOffsets(Map.of(PARTITION, OffsetSpec.latest()))
          .partitionResult(PARTITION)
          .get(30, TimeUnit.SECONDS)
          .offset();
    }
  }

  private static void assertDelivered(String... properties) throws Exception {
    long before = records();
    TestPostgres database = Apps.database();
    List<String> all = new ArrayList<>(Arrays.asList(properties));
    all.add("postrider.destinations.log.type=kafka");
    all.add("postrider.routes[0].namespace=shop");
    all.add("postrider.routes[0].destination=log");
    try (var app = Apps.start(database, Shop.class, all.toArray(String[]::new))) {
      TransactionalOutbox outbox = app.getBean(TransactionalOutbox.class);
      new TransactionTemplate(app.getBean(PlatformTransactionManager.class))
          .executeWithoutResult(
              status -> outbox.publish(NewMessage.to("shop", "orders").json("7").build()));
      await()
          .atMost(Duration.ofSeconds(30))
          .untilAsserted(
              () ->
                  assertThat(database.count("select count(*) from postrider.queue"))
                      .as("%s", database.column("select error from postrider.attempt"))
                      .isZero());
    }
    assertThat(database.count("select count(*) from postrider.dead_letter")).isZero();
    assertThat(records()).isEqualTo(before + 1);
  }

  private static String[] bundle(String... more) {
    List<String> all = new ArrayList<>(Arrays.asList(more));
    for (String store : List.of("keystore", "truststore")) {
      String prefix = "spring.ssl.bundle.jks.kafka." + store;
      all.add(prefix + ".location=file:" + keys);
      all.add(prefix + ".password=" + PASSWORD);
      all.add(prefix + ".type=PKCS12");
    }
    return all.toArray(String[]::new);
  }

  @Test
  void theBundleOfSpringsProducer() throws Exception {
    assertDelivered(
        bundle(
            "spring.kafka.bootstrap-servers=" + kafka.tlsAddress(),
            "spring.kafka.security.protocol=SSL",
            "spring.kafka.ssl.bundle=kafka"));
  }

  @Test
  void theBundleOfTheDestination() throws Exception {
    assertDelivered(
        bundle(
            "postrider.destinations.log.bootstrap-servers=" + kafka.tlsAddress(),
            "postrider.destinations.log.ssl-bundle=kafka"));
  }

  @Test
  void theLoginOfSpringsProducer() throws Exception {
    try (Admin admin = admin()) {
      ScramCredentialInfo info = new ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4096);
      admin
          .alterUserScramCredentials(List.of(new UserScramCredentialUpsertion("shop", info, "one")))
          .all()
          .get(30, TimeUnit.SECONDS);
    }
    assertDelivered(
        "spring.kafka.bootstrap-servers=" + kafka.saslAddress(),
        "spring.kafka.security.protocol=SASL_PLAINTEXT",
        "spring.kafka.properties.[sasl.mechanism]=SCRAM-SHA-256",
        "spring.kafka.properties.[sasl.jaas.config]="
            + "org.apache.kafka.common.security.scram.ScramLoginModule required"
            + " username=\"shop\" password=\"one\";");
  }
}
