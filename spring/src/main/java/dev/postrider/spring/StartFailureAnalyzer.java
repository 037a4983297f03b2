package dev.postrider.spring;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Shows what is wrong and what to do, instead of a stack trace. */
final class StartFailureAnalyzer extends AbstractFailureAnalyzer<StartException> {
  @Override
  protected FailureAnalysis analyze(Throwable rootFailure, StartException cause) {
    return new FailureAnalysis(String.valueOf(cause.getMessage()), cause.action(), rootFailure);
  }
}
