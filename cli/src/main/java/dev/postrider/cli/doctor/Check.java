package dev.postrider.cli.doctor;

import java.sql.SQLException;

/** One thing to look at. */
@FunctionalInterface
interface Check {
  Finding look(CheckedDatabase checked) throws SQLException;
}
