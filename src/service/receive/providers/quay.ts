import { z } from 'zod';
import type { ClaimedPush, IgnoredPush } from '../../../core/model/push-event.ts';
import { optionalText as text, parseJsonBody, readEntries } from './read-payload.ts';
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
    if (!tags) return { pushes: [], ignored: [{ reason: 'not a push: no updated tags', repository: names.repository }] };
    const pushes: ClaimedPush[] = [];
    const ignored: IgnoredPush[] = [];
    for (const tag of tags) {
      if (typeof tag === 'string') pushes.push({ ...names, tag });
      else ignored.push({ code: 'Incomplete', reason: 'a tag is not a string', repository: names.repository });
    }
    if (tags.length === 0) ignored.push({ code: 'Incomplete', reason: 'the event names no tag', repository: names.repository });
    return { pushes, ignored };
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
