package dev.postrider.cli.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.postrider.cli.settings.SettingProblem;
import dev.postrider.cli.settings.Settings;
import dev.postrider.cli.settings.Settings.Effective;
import dev.postrider.cli.settings.SettingsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Secrets are read from files too, and only by commands that use them. */
@Tag("HE-13")
class SecretFilesTest {
  private static final String KEY = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
  private static final String WEBHOOK =
      """
      postrider:
        destinations:
          rail: {type: webhook, url: "https://example.com/hook"}
        routes: [{namespace: pay, destination: rail}]
      """;

  @TempDir private Path folder;
  private final Map<String, String> environment = new HashMap<>();

  private Settings settings(String yaml) throws Exception {
    return Settings.of(
        Map.of(), environment, Files.writeString(folder.resolve("postrider.yaml"), yaml));
  }

  private String file(String name, String text) throws Exception {
    return Files.writeString(folder.resolve(name), text).toString();
  }

  private List<String> problems(String yaml) throws Exception {
    Settings settings = settings(yaml);
    SettingsException error =
        catchThrowableOfType(SettingsException.class, () -> ConfigReader.read(settings));
    assertThat(error).as("the configuration is refused").isNotNull();
    return error.problems().stream()
        .map(SettingProblem::toString)
        .map(text -> text.replace(folder + "/", ""))
        .toList();
  }

  @Test
  void aSecretComesFromAFileWithoutTheLineBreakAtItsEnd() throws Exception {
    environment.put("POSTRIDER_DATABASE_PASSWORD_FILE", file("password", "s3 cret\n"));
    Settings settings = settings("");
    assertThat(ConfigReader.read(settings).database().password()).isEqualTo("s3 cret");
    assertThat(settings.effective())
        .contains(
            new Effective(
                "postrider.database.password",
                "********",
                new dev.postrider.cli.settings.Origin("POSTRIDER_DATABASE_PASSWORD_FILE")));

    environment.clear();
    String yaml = "postrider: {database: {password-file: '%s', url-file: '%s'}}";
    Config config =
        ConfigReader.read(
            settings(yaml.formatted(file("p", "x\r\n"), file("u", "postgresql://a:b@db/shop"))));
    assertThat(config.database().password()).isEqualTo("x");
    assertThat(config.database().url()).isEqualTo("postgresql://a:b@db/shop");
  }

  @Test
  void keysAndHeadersOfAWebhookComeFromFiles() throws Exception {
    environment.put("POSTRIDER_DESTINATIONS_RAIL_KEYS_FILE", file("keys", KEY + "\n" + KEY + "\n"));
    environment.put(
        "POSTRIDER_DESTINATIONS_RAIL_HEADERS_AUTHORIZATION_FILE", file("token", "Bearer t0ken\n"));
    Settings settings = settings(WEBHOOK);
    assertThat(ConfigReader.read(settings).destinations()).hasSize(1);
    assertThat(settings.effective())
        .extracting(Effective::path)
        .contains(
            "postrider.destinations.rail.keys",
            "postrider.destinations.rail.headers.authorization");
    environment.put("POSTRIDER_DESTINATIONS_RAIL_KEYS_FILE", file("keys", "oops\n"));
    assertThat(problems(WEBHOOK))
        .singleElement()
        .asString()
        .contains("expected a key that starts with whsec_ or whsk_")
        .doesNotContain("oops");
  }

  @Test
  void aFileThatCannotBeUsedIsAnErrorThatSaysWhy() throws Exception {
    environment.put("POSTRIDER_DATABASE_PASSWORD_FILE", folder.resolve("none").toString());
    environment.put("POSTRIDER_DATABASE_URL_FILE", file("empty", "\n"));
    environment.put("POSTRIDER_SERVER_TLS_KEY_STORE_PASSWORD_FILE", folder.toString());
    assertThat(problems(""))
        .hasSize(3)
        .contains(
            "POSTRIDER_DATABASE_PASSWORD_FILE: postrider.database.password-file: the file none does"
                + " not exist",
            "POSTRIDER_DATABASE_URL_FILE: postrider.database.url-file: the file empty is empty")
        .anyMatch(text -> text.contains("key-store-password-file") && text.contains("cannot be"));
  }

  @Test
  void aSecretAndAFileForItAreOneTooMany() throws Exception {
    environment.put("POSTRIDER_DATABASE_PASSWORD_FILE", file("password", "x"));
    assertThat(problems("postrider: {database: {password: s3cret}}"))
        .containsExactly(
            "POSTRIDER_DATABASE_PASSWORD_FILE: postrider.database.password-file: expected either"
                + " password or password-file, got both; the other one is at postrider.yaml:1");
    environment.put("POSTRIDER_DATABASE_PASSWORD", "s3cret");
    assertThat(problems("").toString())
        .contains("the other one is at POSTRIDER_DATABASE_PASSWORD")
        .doesNotContain("s3cret");
  }

  @Test
  void withoutAKeyOneIsAskedForAndTwoAnswersAreOneTooMany() throws Exception {
    assertThat(problems(WEBHOOK))
        .singleElement()
        .asString()
        .contains("rail.keys: missing; expected keys", "./postrider webhook-key")
        .doesNotContain("both");
    environment.put("POSTRIDER_DESTINATIONS_RAIL_KEYS", KEY);
    environment.put("POSTRIDER_DESTINATIONS_RAIL_UNSIGNED", "true");
    assertThat(problems(WEBHOOK))
        .singleElement()
        .asString()
        .contains("expected either keys or unsigned: true, got both");
  }

  @Test
  void aPartThatIsNotUsedIsNeitherCheckedNorRead() throws Exception {
    environment.put("POSTRIDER_RELAY_LEASE", "soon");
    environment.put("POSTRIDER_DESTINATIONS_RAIL_KEYS_FILE", "/nowhere");
    Config config =
        ConfigReader.read(settings(WEBHOOK + "  server: {port: many}\n"), ConfigPart.of());
    assertThat(config.destinations()).isEmpty();
    assertThat(problems(WEBHOOK + "  server: {port: many}\n")).hasSize(3);
  }

  @Test
  void aVariableForAnUnknownDestinationIsAWarningAndATypoInAKnownOneAnError() throws Exception {
    environment.put("POSTRIDER_DESTINATIONS_RAIL_KEYS", KEY);
    environment.put("POSTRIDER_DESTINATIONS_MAIL_PASSWORD", "s3cret");
    Settings settings = settings(WEBHOOK);
    ConfigReader.read(settings);
    assertThat(settings.warnings())
        .singleElement()
        .asString()
        .isEqualTo(
            "POSTRIDER_DESTINATIONS_MAIL_PASSWORD: ignored, since it belongs to nothing under"
                + " postrider.destinations, which has rail");
    environment.put("POSTRIDER_DESTINATIONS_RAIL_KEYZ", KEY);
    assertThat(problems(WEBHOOK)).singleElement().asString().contains("RAIL_KEYZ: unknown");
  }
}
