import { z } from 'zod';
import { optionalText as text, parseJsonBody, readEntries, toParsedDelivery } from './read-payload.ts';
import { MalformedBody, type Provider } from './provider.ts';
import { provesNothing } from './headers.ts';

const event = z.object({
  docker_url: text,
  repository: text,
  /** A list of tags; in older versions, an object with the tags as keys. */
  updated_tags: z.unknown().optional().transform(readTags),
});

/** Quay.io and Red Hat Quay: the notification "Push to Repository". It has no id, time or digest, so nothing distinguishes two pushes of a tag. */
export const quay: Provider = {
  id: 'quay',
  documentation: 'https://docs.quay.io/guides/notifications.html',
  verify: provesNothing,
  parse(delivery) {
    const { docker_url: url, repository, updated_tags: tags } = parseJsonBody(event, delivery.body);
    const names = namesOf(url) ?? (repository ? { repository } : undefined);
    if (names === undefined) throw new MalformedBody('the event names no repository');
    const ignored = { code: 'Incomplete', repository: names.repository } as const;
    if (!tags) return toParsedDelivery([{ reason: 'not a push: no updated tags', repository: names.repository }]);
    if (tags.length === 0) return toParsedDelivery([{ ...ignored, reason: 'the event names no tag' }]);
    return toParsedDelivery(
      tags.map((tag) => (typeof tag === 'string' ? { ...names, tag } : { ...ignored, reason: 'a tag is not a string' })),
    );
  },
};

function readTags(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value) || typeof value !== 'object' || value === null) return readEntries(value);
  return readEntries(Object.keys(value)) && Object.entries(value).map(([tag, id]) => (typeof id === 'string' ? tag : id));
}

/** Splits `quay.example.com:8443/team/api` into registry and repository. */
function namesOf(url: string | null | undefined): { registry: string; repository: string } | undefined {
  const [, registry, repository] = /^(?:https?:\/\/)?([^/]+)\/(.+)$/i.exec(url ?? '') ?? [];
  return registry && repository ? { registry, repository } : undefined;
}
