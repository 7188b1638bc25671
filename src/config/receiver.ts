/** `receivers[]`. */
import { z } from 'zod';
import { providerIds } from '../receive/providers/index.ts';
import { canBegin } from '../receive/pulled-names.ts';
import { topicPattern } from '../receive/sns-topic.ts';
import { oidc } from './oidc.ts';
import { authenticatesSomehow, repositoriesAreKnown } from './rules.ts';
import { always, host, name, requestsPerMinute, secretReference } from './scalars.ts';

const sns = z
  .strictObject({
    topics: z
      .array(z.string().regex(topicPattern, 'the ARN of a topic: arn:aws:sns:eu-west-1:123456789012:name').describe('The ARN of a topic.'))
      .min(1)
      .max(32)
      .describe('The topics that are heard; subscriptions of others are not confirmed.'),
  })
  .describe('The sender is Amazon SNS and proves itself by its signature.');

/** What the names of images begin with. */
const beginning = z
  .string()
  .min(1)
  .max(255)
  .refine(
    canBegin,
    'a host with an optional port and path, without a scheme, in lower case: docker.example.com:5001, or example.jfrog.io/docker; {key} stands for the key',
  );
const repositories = z
  .record(
    z.string().regex(/^(?:\*|[A-Za-z0-9._-]{1,64})$/, 'the key of a repository, or * for all others'),
    z.union([beginning, z.array(beginning).min(1).max(8)]),
  )
  .refine(
    (names) => Object.keys(names).length >= 1 && Object.keys(names).length <= 1_000,
    'between 1 and 1,000 repositories, by their keys',
  )
  .describe(
    'Of Artifactory and Nexus: for each repository by its key, or * for all others, what the names of its images begin with where they are pulled (a host with an optional port and path), or a list of it; {key} stands for the key. See [Artifactory](receivers.md#artifactory-artifactory).',
  );

/** A receiver of webhooks. */
export const receiver = z
  .strictObject({
    name: name.describe('The last part of its URL: POST /webhooks/NAME.'),
    provider: z.enum(providerIds, { error: `one of ${providerIds.join(', ')}` }).describe('Who sends: the form of what is received.'),
    secrets: z
      .array(secretReference)
      .min(1)
      .max(16)
      .optional()
      .describe('Secrets that the sender has one of; several of them while one is replaced.'),
    oidc: oidc.optional(),
    sns: sns.optional(),
    unauthenticated: z.boolean().default(false).describe('Whether anybody may send, without a secret, a token or a signature.'),
    registry: host.optional().describe('The registry that is meant, whatever the payload says; needed for senders that do not name one.'),
    repositories: repositories.optional(),
    requestsPerMinute: requestsPerMinute
      .optional()
      .describe('How many requests it takes in a minute; listen.requestsPerMinute unless given.'),
  })
  .describe('A receiver of webhooks.')
  .superRefine(authenticatesSomehow, always)
  .superRefine(repositoriesAreKnown, always);
