package dev.postrider.examples.payments;

import static org.awaitility.Awaitility.await;

import dev.postrider.destination.Destination;
import dev.postrider.examples.stage.Stage;
import dev.postrider.internal.text.Json;
import dev.postrider.message.Backoff;
import dev.postrider.message.Message;
import dev.postrider.message.RetryPolicy;
import dev.postrider.relay.Relay;
import dev.postrider.relay.RelayConfig;
import dev.postrider.testkit.TestPostgres;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.ToIntFunction;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;

/**
 * The whole application on a server of its own: desk, relay, a bank and a wallet provider that
 * answer what a test wants. Thread-safe.
 */
final class Bureau implements AutoCloseable {
  static final String IBAN = "DE89370400440532013000";
  static final String PHONE = "+4915112345678";
  private static final String KEY = "whsec_" + Base64.getEncoder().encodeToString(new byte[32]);

  final TestPostgres database = TestPostgres.start();
  final PaymentDesk desk = new PaymentDesk(database.dataSource());

  /** The instructions that a rail was asked to pay, in the order in which it was asked. */
  final List<String> asked = new CopyOnWriteArrayList<>();

  private final AtomicInteger number = new AtomicInteger();
  private final WalletProvider provider;
  private final Relay relay;
  private volatile ToIntFunction<String> walletStatus = instruction -> 200;
  private volatile UnaryOperator<String> bankCode = id -> SepaCodes.ACCEPTED;

  Bureau() {
    try {
      Stage.createTables(database.dataSource(), PaymentDesk.class);
      this.provider =
          new WalletProvider(
              new RailBooks(dataSource(), Rail.WALLET),
              KEY,
              payload -> {
                String id = Json.read(payload).get("instruction");
                asked.add(id);
                return walletStatus.applyAsInt(id);
              });
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
    SimulatedBank bank = new SimulatedBank(new RailBooks(dataSource(), Rail.SEPA), this::code);
    this.relay = relay("bureau", PaymentRelay.sepa(bank), PaymentRelay.wallet(provider.url(), KEY));
  }

  private String code(Message message) {
    String id = String.valueOf(message.aggregateId());
    asked.add(id);
    return bankCode.apply(id);
  }

  Relay relay(String name, Destination sepa, Destination wallet) {
    return PaymentRelay.relay(
        dataSource(),
        RelayConfig.defaults()
            .withName(name)
            .withPollInterval(Duration.ofMillis(50))
            .withLease(Duration.ofSeconds(1))
            .withReapInterval(Duration.ofMillis(100)),
        RetryPolicy.DEFAULT
            .withBackoff(new Backoff(Duration.ofHours(1), Duration.ofHours(1), 0))
            .withMaxAttempts(2),
        sepa,
        wallet);
  }

  DataSource dataSource() {
    return database.dataSource();
  }

  void start() {
    relay.start();
  }

  void bankAnswers(UnaryOperator<String> codes) {
    bankCode = codes;
  }

  void walletAnswers(ToIntFunction<String> statuses) {
    walletStatus = statuses;
  }

  /** Submits a valid instruction; returns its id. */
  String pay(String participant, Rail rail) throws Exception {
    return pay(participant, rail, 100, "EUR", rail == Rail.SEPA ? IBAN : PHONE);
  }

  String pay(String participant, Rail rail, long amount, String currency, String destination)
      throws Exception {
    String id = "i" + number.incrementAndGet();
    desk.submit(new Instruction(id, participant, rail, amount, currency, destination), "k");
    return id;
  }

  String state(String instruction) {
    return of(instruction, "state");
  }

  /** A column of the instruction's message. */
  String of(String instruction, String column) {
    return database
        .column(
            "select %s from postrider.message_state where aggregate_id = '%s'"
                .formatted(column, instruction))
        .get(0);
  }

  List<String> attempts(String instruction) {
    return database.column(
        ("select concat_ws(' ', a.state, a.code) from postrider.attempt_history a"
                + " join postrider.message m on m.id = a.message_id where m.aggregate_id = '%s'"
                + " order by a.finished_at nulls last")
            .formatted(instruction));
  }

  void until(String instruction, String state) {
    await()
        .atMost(Duration.ofSeconds(30))
        .pollInterval(Duration.ofMillis(20))
        .until(() -> state(instruction).equals(state));
  }

  /** What waits for its next attempt is due now. */
  void makeDue() {
    database.execute(
        "update postrider.queue set due_at = now() where lane < 0 and due_at < 'infinity'");
  }

  List<String> findings() {
    return database.column("select finding from payments.audit order by 1");
  }

  @Override
  public void close() {
    relay.close();
    provider.close();
    database.close();
  }
}
