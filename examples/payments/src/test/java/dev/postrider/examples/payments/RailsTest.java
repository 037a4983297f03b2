package dev.postrider.examples.payments;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

import dev.postrider.deadletter.BlockedKey;
import dev.postrider.deadletter.BlockedKeys;
import dev.postrider.destination.DestinationOptions;
import dev.postrider.schema.Schema;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Instructions on their way over both rails; each test has participants of its own. */
@TestInstance(Lifecycle.PER_CLASS)
class RailsTest {
  @AutoClose private final Bureau bureau = new Bureau();
  private final BlockedKeys blocked = new BlockedKeys(bureau.dataSource(), Schema.DEFAULT);

  @BeforeAll
  void start() {
    bureau.start();
  }

  @BeforeEach
  void everythingIsAccepted() {
    bureau.bankAnswers(id -> SepaCodes.ACCEPTED);
    bureau.walletAnswers(id -> 200);
  }

  @AfterEach
  void theAuditFindsNothing() {
    assertThat(bureau.findings()).isEmpty();
  }

  @ParameterizedTest
  @Tag("PO-8")
  @CsvSource({
    "SEPA, 0, EUR, DE89370400440532013000, amount",
    "SEPA, -5, EUR, DE89370400440532013000, amount",
    "SEPA, 5, EURO, DE89370400440532013000, currency",
    "SEPA, 5, XXX, DE89370400440532013000, currency",
    "SEPA, 5, eur, DE89370400440532013000, currency",
    "SEPA, 5, EUR, DE88370400440532013000, destination",
    "SEPA, 5, EUR, +4915112345678, destination",
    "WALLET, 5, EUR, DE89370400440532013000, destination",
    "WALLET, 5, EUR, 015112345678, destination"
  })
  void whatIsInvalidIsDeadAndNeverSent(
      Rail rail, long amount, String currency, String destination, String field) throws Exception {
    String id =
        bureau.pay(rail + currency + amount + destination, rail, amount, currency, destination);
    bureau.until(id, "dead");
    assertThat(bureau.asked).doesNotContain(id);
    assertThat(bureau.attempts(id)).containsExactly("FAILED " + PaymentCheck.INVALID);
    assertThat(bureau.of(id, "last_error")).startsWith(field + ": expected ");
  }

  @Test
  @Tag("PO-8")
  void everythingThatIsInvalidIsSaidTogether() throws Exception {
    String id = bureau.pay("all-wrong", Rail.WALLET, 0, "", "nobody");
    bureau.until(id, "dead");
    assertThat(bureau.of(id, "last_error"))
        .isEqualTo(
            "amount: expected a positive number of minor units, got '0'; currency: expected a code"
                + " of ISO 4217, got ''; destination: expected a phone number like +4915112345678,"
                + " got 'nobody'");
  }

  @Test
  @Tag("PO-8")
  void eachRailHasItsOwnCap() throws Exception {
    AtomicInteger under = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    CountDownLatch full = new CountDownLatch(Rail.WALLET.cap());
    CountDownLatch release = new CountDownLatch(1);
    bureau.walletAnswers(
        id -> {
          most.accumulateAndGet(under.incrementAndGet(), Math::max);
          full.countDown();
          hold(release);
          under.decrementAndGet();
          return 200;
        });
    List<String> wallets = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      wallets.add(bureau.pay("capped" + i, Rail.WALLET));
    }
    assertThat(full.await(30, TimeUnit.SECONDS)).isTrue();
    bureau.until(bureau.pay("other-rail", Rail.SEPA), "delivered"); // is not held up
    release.countDown();
    for (String id : wallets) {
      bureau.until(id, "delivered");
    }
    assertThat(most).hasValue(Rail.WALLET.cap());
    assertThat(DestinationOptions.DEFAULT.timeout()).isEqualTo(Duration.ofSeconds(30));
  }

  private static void hold(CountDownLatch latch) {
    try {
      if (!latch.await(30, TimeUnit.SECONDS)) {
        throw new IllegalStateException("never released");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @ParameterizedTest
  @Tag("PO-9")
  @Tag("PO-4")
  @CsvSource({
    "SEPA, AC06, 200, FAILED AC06",
    "SEPA, AB08, 200, RETRYABLE AB08",
    "SEPA, ZZ99, 200, RETRYABLE ZZ99",
    "WALLET, ACCP, 404, FAILED http_404",
    "WALLET, ACCP, 503, RETRYABLE http_503"
  })
  void codesDecideAndAreKept(Rail rail, String code, int status, String attempt) throws Exception {
    bureau.bankAnswers(id -> code);
    bureau.walletAnswers(id -> status);
    String id = bureau.pay("codes-" + code + status, rail);
    await().atMost(Duration.ofSeconds(30)).until(() -> bureau.attempts(id).contains(attempt));
    assertThat(bureau.state(id)).isEqualTo(attempt.startsWith("FAILED") ? "dead" : "pending");
  }

  @Test
  @Tag("PO-6")
  void aDeadTransferHoldsItsParticipantUntilAnOperatorSetsItAside() throws Exception {
    String participant = "held";
    bureau.bankAnswers(id -> id.equals("held-head") ? "AC04" : SepaCodes.ACCEPTED);
    bureau.desk.submit(
        new Instruction("held-head", participant, Rail.SEPA, 5, "EUR", Bureau.IBAN), "k");
    String transfer = bureau.pay(participant, Rail.SEPA);
    String wallet = bureau.pay(participant, Rail.WALLET);
    bureau.until("held-head", "dead");
    bureau.until(bureau.pay("someone-else", Rail.SEPA), "delivered");
    assertThat(bureau.asked).doesNotContain(transfer, wallet);
    assertThat(blocked.list(null, 100))
        .filteredOn(key -> key.key().equals(participant))
        .extracting(BlockedKey::code, BlockedKey::followers)
        .containsExactly(tuple("AC04", 2));

    assertThat(blocked.skip("operator", "closed account", "payments", participant)).isTrue();
    bureau.until(wallet, "delivered");
    assertThat(bureau.asked).containsSubsequence("held-head", transfer, wallet);
    assertThat(bureau.state("held-head")).isEqualTo("dead");
  }

  @Test
  @Tag("PO-6")
  void aDeadWalletPaymentIsSkipped() throws Exception {
    bureau.walletAnswers(id -> id.equals("skipped-head") ? 422 : 200);
    bureau.desk.submit(
        new Instruction("skipped-head", "skips", Rail.WALLET, 5, "EUR", Bureau.PHONE), "k");
    bureau.until(bureau.pay("skips", Rail.WALLET), "delivered");
    assertThat(bureau.state("skipped-head")).isEqualTo("dead");
    assertThat(bureau.attempts("skipped-head")).containsExactly("FAILED http_422");
  }

  @Test
  @Tag("PO-6")
  @Tag("PO-9")
  void aRetryKeepsIdAndNumberAndThoseBehindItWait() throws Exception {
    bureau.bankAnswers(id -> id.equals("poor") ? "AM04" : SepaCodes.ACCEPTED);
    bureau.desk.submit(new Instruction("poor", "waits", Rail.SEPA, 5, "EUR", Bureau.IBAN), "k");
    String behind = bureau.pay("waits", Rail.WALLET);
    await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> bureau.attempts("poor").contains("RETRYABLE AM04"));
    String identity = bureau.of("poor", "id || ' ' || sequence");
    assertThat(bureau.asked).doesNotContain(behind);
    bureau.bankAnswers(id -> SepaCodes.ACCEPTED);
    bureau.makeDue();
    bureau.until(behind, "delivered");
    assertThat(bureau.attempts("poor")).containsExactly("RETRYABLE AM04", "DISPATCHED");
    assertThat(bureau.of("poor", "id || ' ' || sequence")).isEqualTo(identity);
  }
}
