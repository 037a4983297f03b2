package dev.postrider.examples.payments;

import dev.postrider.examples.stage.ChildProcess;
import dev.postrider.examples.stage.Stage;
import dev.postrider.message.RetryPolicy;
import dev.postrider.relay.Relay;
import dev.postrider.relay.RelayConfig;
import java.time.Duration;
import java.util.Base64;
import javax.sql.DataSource;

/** A relay in a process of its own, to be killed. Argument: JDBC URL. */
final class DoomedRelay {
  private DoomedRelay() {}

  public static void main(String[] arguments) throws Exception {
    DataSource dataSource = Stage.dataSource(arguments[0]);
    String key = "whsec_" + Base64.getEncoder().encodeToString(new byte[32]);
    SimulatedBank bank =
        new SimulatedBank(new RailBooks(dataSource, Rail.SEPA), message -> SepaCodes.ACCEPTED);
    try (Relay relay =
        PaymentRelay.relay(
            dataSource,
            RelayConfig.defaults().withName("doomed").withLease(Duration.ofSeconds(1)),
            RetryPolicy.DEFAULT,
            PaymentRelay.sepa(bank),
            PaymentRelay.wallet("http://127.0.0.1:1/nobody", key))) {
      relay.start();
      ChildProcess.untilParentEnds();
    }
  }
}
