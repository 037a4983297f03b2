package dev.postrider.kafka;

import dev.postrider.kafka.server.KafkaServer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.ScramCredentialInfo;
import org.apache.kafka.clients.admin.ScramMechanism;
import org.apache.kafka.clients.admin.UserScramCredentialUpsertion;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AccessControlEntryFilter;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclBindingFilter;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourcePatternFilter;
import org.apache.kafka.common.resource.ResourceType;

/**
 * The broker of all tests in this JVM, which ends with it, and what an administrator does to it.
 */
final class Broker {
  static final KeyStore KEYS = KeyStore.create("keys-of-the-broker");
  static final KafkaServer SERVER = KafkaServer.start(KEYS.identity());

  private Broker() {}

  static KafkaConfig.Builder config() {
    return KafkaConfig.builder(SERVER.address())
        .deliveryTimeout(Duration.ofSeconds(10))
        .maxBlock(Duration.ofSeconds(3));
  }

  /** As a user who has to sign in. */
  static KafkaConfig.Builder configFor(String user, String password) {
    return KafkaConfig.builder(SERVER.saslAddress())
        .deliveryTimeout(Duration.ofSeconds(5))
        .property("security.protocol", "SASL_PLAINTEXT")
        .property("sasl.mechanism", "SCRAM-SHA-256")
        .property(
            "sasl.jaas.config",
            "org.apache.kafka.common.security.scram.ScramLoginModule required"
                + " username=\"%s\" password=\"%s\";".formatted(user, password));
  }

  static void createTopic(String name, Map<String, String> settings) {
    administer(
        admin ->
            admin
                .createTopics(List.of(new NewTopic(name, 4, (short) 1).configs(settings)))
                .all()
                .get(30, TimeUnit.SECONDS));
  }

  static void deleteTopic(String name) {
    administer(admin -> admin.deleteTopics(List.of(name)).all().get(30, TimeUnit.SECONDS));
  }

  static void createUser(String user, String password) {
    ScramCredentialInfo info = new ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4096);
    administer(
        admin ->
            admin
                .alterUserScramCredentials(
                    List.of(new UserScramCredentialUpsertion(user, info, password)))
                .all()
                .get(30, TimeUnit.SECONDS));
  }

  static void allowToWrite(String user, String topic) {
    AclBinding acl =
        new AclBinding(
            new ResourcePattern(ResourceType.TOPIC, topic, PatternType.LITERAL),
            new AccessControlEntry(
                "User:" + user, "*", AclOperation.WRITE, AclPermissionType.ALLOW));
    administer(admin -> admin.createAcls(List.of(acl)).all().get(30, TimeUnit.SECONDS));
  }

  static void forbidToWrite(String user, String topic) {
    AclBindingFilter all =
        new AclBindingFilter(
            new ResourcePatternFilter(ResourceType.TOPIC, topic, PatternType.LITERAL),
            new AccessControlEntryFilter(
                "User:" + user, null, AclOperation.ANY, AclPermissionType.ANY));
    administer(admin -> admin.deleteAcls(List.of(all)).all().get(30, TimeUnit.SECONDS));
  }

  static void addPartitions(String topic, int total) {
    administer(
        admin ->
            admin
                .createPartitions(Map.of(topic, NewPartitions.increaseTo(total)))
                .all()
                .get(30, TimeUnit.SECONDS));
  }

  private interface Act {
    void on(Admin admin) throws Exception;
  }

  private static void administer(Act act) {
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", SERVER.address()))) {
      act.on(admin);
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }
}
