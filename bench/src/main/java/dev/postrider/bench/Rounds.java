package dev.postrider.bench;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ToDoubleFunction;

/**
 * Runs variants in turns, round after round, each time starting with another one: what disturbs the
 * machine for a while then disturbs all of them. Not thread-safe.
 */
final class Rounds {
  private final Map<String, Variant> variants = new LinkedHashMap<>();
  private final Meter meter;

  Rounds(Meter meter) {
    this.meter = meter;
  }

  /** Measures one round: a rate or a time. */
  interface Variant {
    double measure() throws Exception;
  }

  Rounds variant(String name, Variant variant) {
    variants.put(name, variant);
    return this;
  }

  Result run(int rounds) throws Exception {
    List<String> order = new ArrayList<>(variants.keySet());
    Map<String, List<Double>> samples = new LinkedHashMap<>();
    Map<String, List<Meter.Cost>> costs = new LinkedHashMap<>();
    order.forEach(name -> samples.put(name, new ArrayList<>()));
    for (int round = 0; round < rounds; round++) {
      for (Map.Entry<String, Variant> variant : ordered(order)) {
        double sample = variant.getValue().measure();
        samples.getOrDefault(variant.getKey(), List.of()).add(sample);
        Meter.Cost cost = meter.take();
        if (cost != null) {
          costs.computeIfAbsent(variant.getKey(), v -> new ArrayList<>()).add(cost);
        }
        System.err.printf("round %d of %d: %s %.1f%n", round + 1, rounds, variant.getKey(), sample);
      }
      Collections.rotate(order, -1);
    }
    return new Result(samples, costs);
  }

  private List<Map.Entry<String, Variant>> ordered(List<String> order) {
    return variants.entrySet().stream()
        .sorted((a, b) -> order.indexOf(a.getKey()) - order.indexOf(b.getKey()))
        .toList();
  }

  /**
   * The samples of each variant, one per round, and what those that were metered cost. Immutable as
   * far as anyone here changes it.
   */
  record Result(Map<String, List<Double>> samples, Map<String, List<Meter.Cost>> costs) {

    Set<String> variants() {
      return samples.keySet();
    }

    /** These samples and later ones of the same variants. */
    Result and(Result later) {
      return new Result(joined(samples, later.samples), joined(costs, later.costs));
    }

    private static <T> Map<String, List<T>> joined(
        Map<String, List<T>> first, Map<String, List<T>> later) {
      Map<String, List<T>> both = new LinkedHashMap<>();
      for (Map<String, List<T>> each : List.of(first, later)) {
        each.forEach(
            (name, list) -> both.computeIfAbsent(name, n -> new ArrayList<>()).addAll(list));
      }
      return both;
    }

    List<Double> of(String variant) {
      List<Double> found = samples.get(variant);
      if (found == null) {
        throw new IllegalArgumentException("no variant " + variant);
      }
      return found;
    }

    double median(String variant) {
      return median(of(variant));
    }

    /** The median of the ratios within each round: rounds are close in time, medians may not be. */
    double ratio(String variant, String yardstick) {
      List<Double> left = of(variant);
      List<Double> right = of(yardstick);
      List<Double> ratios = new ArrayList<>();
      for (int i = 0; i < left.size(); i++) {
        ratios.add(left.get(i) / right.get(i));
      }
      return median(ratios);
    }

    boolean metered(String variant) {
      return costs.containsKey(variant);
    }

    double medianCost(String variant, ToDoubleFunction<Meter.Cost> part) {
      return median(
          costs.getOrDefault(variant, List.of()).stream().map(part::applyAsDouble).toList());
    }

    /** What {@link Meter.Counts} say of those that have them, else 0. */
    double medianCount(String variant, ToDoubleFunction<Meter.Counts> part) {
      return medianCost(
          variant, cost -> cost.counts() == null ? 0 : part.applyAsDouble(cost.counts()));
    }

    /** Cells: the median, the lowest and the highest. */
    String[] spread(String variant) {
      List<Double> sorted = of(variant).stream().sorted().toList();
      return new String[] {
        Stage.rate(median(variant)),
        Stage.rate(sorted.get(0)),
        Stage.rate(sorted.get(sorted.size() - 1))
      };
    }

    /** The quantile of the values; NaN if there are none. */
    static double percentile(List<Double> values, double share) {
      List<Double> sorted = values.stream().sorted().toList();
      return sorted.isEmpty()
          ? Double.NaN
          : sorted.get((int) Math.min(sorted.size() - 1, share * sorted.size()));
    }

    /** Not a number if there are none. */
    static double median(List<Double> values) {
      if (values.isEmpty()) {
        return Double.NaN;
      }
      List<Double> sorted = values.stream().sorted().toList();
      int middle = sorted.size() / 2;
      return sorted.size() % 2 == 1
          ? sorted.get(middle)
          : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
    }
  }
}
