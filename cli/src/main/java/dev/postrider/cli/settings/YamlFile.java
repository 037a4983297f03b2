package dev.postrider.cli.settings;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Compose;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;
import org.snakeyaml.engine.v2.nodes.Tag;

/** Reads a YAML file into nodes that know their lines. Used by one thread. */
final class YamlFile {
  private static final int DEPTH_MAX = 20;

  /** Aliases repeat values: a few lines could otherwise mean more than memory holds. */
  private static final int VALUES_MAX = 100_000;

  private static final long BYTES_MAX = 1 << 20;

  private final String name;
  private final List<SettingProblem> problems;
  private int values;

  private YamlFile(String name, List<SettingProblem> problems) {
    this.name = name;
    this.problems = problems;
  }

  static Node.Mapping read(Path file, List<SettingProblem> problems) {
    return new YamlFile(file.toString(), problems).read(file);
  }

  private Node.Mapping read(Path file) {
    Node.Mapping nothing = Node.Mapping.empty(new Origin(name));
    try {
      if (Files.size(file) > BYTES_MAX) {
        problems.add(problem(name, "the file is larger than 1 MiB"));
        return nothing;
      }
      String text = Files.readString(file);
      LoadSettings settings = LoadSettings.builder().setLabel(name).build();
      Optional<org.snakeyaml.engine.v2.nodes.Node> root = new Compose(settings).composeString(text);
      if (root.isEmpty()) {
        return nothing;
      }
      if (node(root.get(), origin(root.get()), 0) instanceof Node.Mapping mapping) {
        return mapping;
      }
      problems.add(problem(name, "expected keys and values, such as postrider: at its first line"));
    } catch (MarkedYamlEngineException e) {
      String where = e.getProblemMark().map(mark -> name + ":" + line(mark)).orElse(name);
      problems.add(problem(where, "not valid YAML: " + e.getProblem()));
    } catch (YamlEngineException e) {
      problems.add(problem(name, "not valid YAML: " + e.getMessage()));
    } catch (StackOverflowError e) { // the parser has no limit of its own
      problems.add(problem(name, "nested more than " + DEPTH_MAX + " deep"));
    } catch (CharacterCodingException e) {
      problems.add(problem(name, "the file is not UTF-8"));
    } catch (IOException e) {
      problems.add(problem(name, "the file cannot be read: " + e));
    }
    return nothing;
  }

  private static SettingProblem problem(String where, String text) {
    return new SettingProblem(new Origin(where), "", text);
  }

  /** A depth, since an anchor may lead back to what contains it. */
  private Node node(org.snakeyaml.engine.v2.nodes.Node node, Origin origin, int depth) {
    if (depth > DEPTH_MAX) {
      problems.add(new SettingProblem(origin, "", "nested more than " + DEPTH_MAX + " deep"));
      return new Node.Scalar(null, origin);
    }
    if (++values > VALUES_MAX) {
      throw new YamlEngineException("it has more than " + VALUES_MAX + " values, with its aliases");
    }
    if (node instanceof MappingNode mapping) {
      return mapping(mapping, origin, depth);
    } else if (node instanceof SequenceNode sequence) {
      List<Node> items = new ArrayList<>();
      sequence.getValue().forEach(item -> items.add(node(item, origin(item), depth + 1)));
      return new Node.Sequence(items, origin);
    } else if (node instanceof ScalarNode scalar && !scalar.getTag().equals(Tag.NULL)) {
      return new Node.Scalar(scalar.getValue(), origin);
    }
    return new Node.Scalar(null, origin);
  }

  private Node mapping(MappingNode mapping, Origin origin, int depth) {
    Map<String, Node> entries = new LinkedHashMap<>();
    for (NodeTuple tuple : mapping.getValue()) {
      Origin line = origin(tuple.getKeyNode()); // the key's: a long value may start below it
      if (!(tuple.getKeyNode() instanceof ScalarNode key)) {
        problems.add(new SettingProblem(line, "", "a key must be plain text"));
      } else if (entries.containsKey(key.getValue())) {
        problems.add(
            new SettingProblem(line, "", "the key \"" + key.getValue() + "\" is here twice"));
      } else {
        entries.put(key.getValue(), node(tuple.getValueNode(), line, depth + 1));
      }
    }
    return new Node.Mapping(entries, origin);
  }

  private Origin origin(org.snakeyaml.engine.v2.nodes.Node node) {
    return node.getStartMark()
        .map(mark -> Origin.line(name, line(mark)))
        .orElseGet(() -> new Origin(name));
  }

  private static int line(Mark mark) {
    return mark.getLine() + 1;
  }
}
