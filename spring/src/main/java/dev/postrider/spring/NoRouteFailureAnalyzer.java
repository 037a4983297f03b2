package dev.postrider.spring;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** For applications that publish while they start. */
final class NoRouteFailureAnalyzer extends AbstractFailureAnalyzer<NoRouteException> {
  @Override
  protected FailureAnalysis analyze(Throwable rootFailure, NoRouteException cause) {
    return new FailureAnalysis(
        String.valueOf(cause.getMessage()),
        "Add a handler or a route for the topic, or set postrider.unrouted.",
        rootFailure);
  }
}
