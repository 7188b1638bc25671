/** Reads where the images of a notice were built from, for links in messages. */
import { defined } from '../core/model/defined.ts';
import { startDeadline } from '../core/async/deadline.ts';
import { isUsable, type ImagePolicy, type PolicySpec } from '../core/model/image-policy.ts';
import type { Origins } from '../core/model/image-origin.ts';
import { sameRepository, tryParseImageReference } from '../core/model/image-reference.ts';
import type { ImageSource } from '../core/model/image-source.ts';
import type { Notice } from '../core/model/notice.ts';
import type { RegistryClient } from '../service/registry/client.ts';
import { createOriginReader } from '../service/registry/origins.ts';

/** The timeout of the reads: a message without links is better than a late one. */
const readMs = 5_000;

/** Reads the origins from the registry with the access of the policy. An unreadable origin is absent. */
export function createNoticeOrigins(
  registry: RegistryClient,
  findPolicy: (namespace: string, name: string) => ImagePolicy | undefined,
  sourceOf: (policy: ImagePolicy, spec: PolicySpec) => ImageSource,
): (notice: Notice, signal: AbortSignal) => Promise<Origins> {
  const readOrigin = createOriginReader(registry);
  return async ({ subject, tag, digest, from = [] }, stopped) => {
    const policy = subject.kind === 'ImagePolicy' ? findPolicy(subject.namespace ?? '', subject.name) : undefined;
    if (policy?.uid !== subject.uid || !isUsable(policy.spec) || digest === undefined) return {};
    const source = sourceOf(policy, policy.spec);
    const before = from
      .map((text) => tryParseImageReference(text))
      .find((image) => image !== undefined && sameRepository(image.repository, source));
    // If a tag was moved to the new image, it does not identify the old one.
    const old = before?.digest ?? (before?.tag === tag ? undefined : before?.tag);
    const { signal, end } = startDeadline(readMs, stopped);
    const read = async (reference: string | undefined) =>
      reference === undefined ? undefined : readOrigin(source, reference, signal).catch(() => undefined);
    try {
      const [now, was] = await Promise.all([read(digest), read(old)]);
      return { ...defined({ now, before: was }) };
    } finally {
      end();
    }
  };
}
