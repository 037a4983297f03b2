package dev.postrider.examples.payments;

import dev.postrider.deadletter.BlockedKey;
import dev.postrider.deadletter.BlockedKeys;
import dev.postrider.examples.stage.Stage;
import dev.postrider.message.Backoff;
import dev.postrider.message.Message;
import dev.postrider.message.RetryPolicy;
import dev.postrider.relay.Relay;
import dev.postrider.relay.RelayConfig;
import dev.postrider.schema.Schema;
import java.security.SecureRandom;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Base64;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;

/** Participants pay over two rails that refuse and fail; an operator looks after blocked ones. */
public final class Main {
  private static final String STATES =
      "select count(*) from postrider.message_state where namespace = 'payments' and state ";
  private static final String WAITING = STATES + "in ('pending', 'processing')";
  private static final String CLOSED = "GB82WEST12345698765432";
  private static final String[] ACCOUNTS = {
    "DE89370400440532013000", "FR1420041010050500013M02606", "NL91ABNA0417164300"
  };

  private final Stage stage;
  private final BlockedKeys blocked;
  private final String round = UUID.randomUUID().toString().substring(0, 8);

  private Main(Stage stage) {
    this.stage = stage;
    this.blocked = new BlockedKeys(stage.dataSource(), Schema.DEFAULT);
  }

  public static void main(String[] arguments) throws Exception {
    Stage.run(Main.class, arguments, Map.of("participants", "5"), stage -> new Main(stage).play());
  }

  private void play() throws Exception {
    int participants = stage.options().number("participants", 1, 1000);
    stage.say("%d participants pay over two rails; Ctrl-C ends", participants);
    String key = "whsec_" + Base64.getEncoder().encodeToString(new SecureRandom().generateSeed(32));
    SimulatedBank bank = new SimulatedBank(books(Rail.SEPA), Main::bankCode);
    RetryPolicy retry =
        new RetryPolicy(
            new Backoff(Duration.ofSeconds(1), Duration.ofSeconds(2), 0.2),
            5,
            RetryPolicy.DeadPolicy.SKIP);
    try (WalletProvider provider = new WalletProvider(books(Rail.WALLET), key, Main::walletStatus);
        Relay relay =
            PaymentRelay.relay(
                stage.dataSource(),
                RelayConfig.defaults(),
                retry,
                PaymentRelay.sepa(bank),
                PaymentRelay.wallet(provider.url(), key))) {
      relay.start();
      pay(participants);
      stage.say("no more instructions; waiting for those that are on their way");
      for (int i = 0; i < 150 && stage.count(WAITING) > 0; i++) {
        operate(Duration.ZERO);
        Thread.sleep(100);
      }
    }
    summary();
  }

  private RailBooks books(Rail rail) {
    return new RailBooks(stage.dataSource(), rail);
  }

  private static String bankCode(Message message) {
    if (message.text().contains(CLOSED)) {
      return "AC04";
    }
    return ThreadLocalRandom.current().nextInt(12) == 0 ? "AM04" : SepaCodes.ACCEPTED;
  }

  private static int walletStatus(String payload) {
    return ThreadLocalRandom.current().nextInt(12) == 0 ? 503 : 200;
  }

  private void pay(int participants) throws SQLException, InterruptedException {
    PaymentDesk desk = new PaymentDesk(stage.dataSource());
    Random random = new Random(7);
    for (int n = 1; stage.goesOn(Duration.ofMillis(50)); n++) {
      desk.submit(instruction(n, "p" + random.nextInt(participants), random), "k" + n);
      if (n % 20 == 0) {
        operate(Duration.ofSeconds(2));
        stage.say(
            "instructions %4d   waiting %3d   delivered %4d   dead %2d   blocked: %s",
            n,
            stage.count(WAITING),
            stage.count(STATES + "= 'delivered'"),
            stage.count(STATES + "= 'dead'"),
            blocked.list(null, 10).stream().map(BlockedKey::key).toList());
      }
    }
  }

  /** One in forty goes to a closed account, one in thirty is of an amount that nobody can pay. */
  private Instruction instruction(int n, String participant, Random random) {
    String id = "i-" + round + "-" + n;
    long amount = n % 30 == 0 ? 0 : 1 + random.nextInt(100_000);
    if (n % 40 == 0 || random.nextBoolean()) {
      String account = n % 40 == 0 ? CLOSED : ACCOUNTS[random.nextInt(ACCOUNTS.length)];
      return new Instruction(id, participant, Rail.SEPA, amount, "EUR", account);
    }
    return new Instruction(id, participant, Rail.WALLET, amount, "EUR", "+4915112345678");
  }

  /** What an operator does in the console: sets the dead head aside, and the key goes on. */
  private void operate(Duration patience) throws SQLException {
    for (BlockedKey key : blocked.list(null, 100)) {
      if (key.blockedFor().compareTo(patience) >= 0) {
        blocked.skip("operator", "paid by hand", key.namespace(), key.key());
        stage.say(
            "operator: %s was blocked at number %d by %s, with %d behind it; set aside",
            key.key(), key.sequence(), String.valueOf(key.code()), key.followers());
      }
    }
  }

  private void summary() throws SQLException {
    stage.say(
        "%d instructions: %d delivered, %d dead, %d waiting; %d attempts were retried",
        stage.count("select count(*) from payments.instruction"),
        stage.count(STATES + "= 'delivered'"),
        stage.count(STATES + "= 'dead'"),
        stage.count(WAITING),
        stage.count("select count(*) from postrider.attempt_history where state = 'RETRYABLE'"));
    long findings = stage.count("select count(*) from payments.audit");
    stage.say(
        findings == 0
            ? "audit: sequences without a gap, one success per instruction, all in order"
            : "audit: %d FINDINGS, see payments.audit",
        findings);
  }
}
