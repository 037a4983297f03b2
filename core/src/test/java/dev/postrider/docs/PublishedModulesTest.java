package dev.postrider.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The BOM, the table of modules and the README name what the build publishes. */
class PublishedModulesTest {
  private static final Path ROOT = Path.of("..");

  /** A module without {@code maven.deploy.skip}, its own or its parent folder's, is published. */
  private static Set<String> published() throws Exception {
    TreeSet<String> artifacts = new TreeSet<>();
    for (String module : all("<module>([^<]+)</module>", pom(""))) {
      String pom = pom(module);
      boolean jar = !pom.contains("<packaging>pom</packaging>");
      if (jar && !pom.contains("<maven.deploy.skip>true</maven.deploy.skip>")) {
        artifacts.add(artifactId(pom));
      }
    }
    return artifacts;
  }

  @Test
  void theBomListsEveryPublishedModuleAndNoOther() throws Exception {
    String managed = between(pom("bom"), "<dependencyManagement>", "</dependencyManagement>");
    assertThat(all("<artifactId>([^<]+)</artifactId>", managed))
        .as("artifacts in bom/pom.xml; a module that is not published sets maven.deploy.skip")
        .containsExactlyInAnyOrderElementsOf(published());
  }

  @Test
  void theTableOfModulesSaysWhatIsPublished() throws Exception {
    String architecture = Files.readString(ROOT.resolve("ARCHITECTURE.md"));
    TreeSet<String> listed = new TreeSet<>();
    for (String row : all("(?m)^\\| (`.*) \\| yes \\|$", architecture)) {
      for (String module : all("`([a-z0-9-]+)`", row.substring(0, row.indexOf('|')))) {
        listed.add("postrider-" + module);
      }
    }
    listed.remove("postrider-bom");
    assertThat(listed).isEqualTo(published());
  }

  @Test
  void theSnippetsOfTheReadmeNameTheVersionsOfTheBuild() throws Exception {
    String readme = Files.readString(ROOT.resolve("README.md"));
    String version = all("<version>([^<]+)</version>", pom("bom")).get(0);
    String jackson = all("<jackson.version>([^<]+)<", pom("")).get(0);
    assertThat(readme)
        .contains("<version>" + version + "</version>")
        .contains("<version>" + jackson + "</version>")
        .contains("platform(\"dev.postrider:postrider-bom:" + version + "\")")
        .contains("\"tools.jackson.core:jackson-databind:" + jackson + "\"");
  }

  private static String pom(String module) throws Exception {
    return Files.readString(ROOT.resolve(module).resolve("pom.xml"));
  }

  private static String artifactId(String pom) {
    String own = pom.contains("</parent>") ? pom.substring(pom.indexOf("</parent>")) : pom;
    return all("<artifactId>([^<]+)</artifactId>", own).get(0);
  }

  private static String between(String text, String from, String to) {
    return text.substring(text.indexOf(from), text.indexOf(to));
  }

  private static List<String> all(String regex, String text) {
    List<String> found = new ArrayList<>();
    Matcher matcher = Pattern.compile(regex).matcher(text);
    while (matcher.find()) {
      found.add(matcher.group(1));
    }
    return found;
  }
}
