/**
 * Keeps archive files in S3-compatible storage: Amazon S3, MinIO, Ceph, R2 and others. What comes
 * in: a {@link dev.postrider.archive.s3.S3Config}. What goes out: an {@link
 * dev.postrider.archive.ArchiveStorage}. The AWS SDK is used here only.
 */
@NullMarked
package dev.postrider.archive.s3;

import org.jspecify.annotations.NullMarked;
