/** Schema of the setting `receivers[]`. */
import { z } from 'zod';
import { providerIds } from '../receive/providers/index.ts';
import { isNamePrefix } from '../receive/read-delivery.ts';
import { topicPattern } from '../receive/sns-proof.ts';
import { oidc } from './oidc.ts';
import { authenticatesSomehow, repositoriesAreKnown, scansAreAnnounced } from './rules.ts';
import { always, host, name, requestsPerMinute, secretReference } from './scalars.ts';

const sns = z
  .strictObject({
    topics: z
      .array(z.string().regex(topicPattern, 'the ARN of a topic: arn:aws:sns:eu-west-1:123456789012:name').describe('The ARN of a topic.'))
      .min(1)
      .max(32)
      .describe('The topics whose messages are accepted. Subscriptions of other topics are not confirmed.'),
  })
  .describe('The sender is Amazon SNS; its messages are authenticated by their signatures.');

/** The prefix of image names: host, optional port and path. */
const beginning = z
  .string()
  .min(1)
  .max(255)
  .refine(
    isNamePrefix,
    'must be a host with an optional port and path, without a scheme, in lower case: docker.example.com:5001, or example.jfrog.io/docker; {key} stands for the key',
  );
const repositories = z
  .record(
    z.string().regex(/^(?:\*|[A-Za-z0-9._-]{1,64})$/, 'the key of a repository, or * for all others'),
    z.union([beginning, z.array(beginning).min(1).max(8)], {
      error: 'what names of images begin with, such as example.jfrog.io/docker, or a list of 1 to 8 of them',
    }),
  )
  .refine(
    (names) => Object.keys(names).length >= 1 && Object.keys(names).length <= 1_000,
    'must name between 1 and 1,000 repositories, by their keys',
  )
  .describe(
    'For Artifactory and Nexus: maps the key of a repository (or * for all others) to what the names of its images begin with when they are pulled: a host with an optional port and path, or a list of them. {key} stands for the key. See [Artifactory](receivers/artifactory.md).',
  );

/** Schema of a receiver of webhooks. */
export const receiver = z
  .strictObject({
    name: name.describe('The name, which is the last part of the URL: POST /webhooks/NAME.'),
    provider: z
      .enum(providerIds, { error: `one of ${providerIds.join(', ')}` })
      .describe('The kind of sender, which determines the payload format.'),
    secrets: z
      .array(secretReference)
      .min(1)
      .max(16)
      .optional()
      .describe('The secrets of the sender. Each of them is accepted, so that a secret can be rotated.'),
    oidc: oidc.optional(),
    sns: sns.optional(),
    unauthenticated: z.boolean().default(false).describe('Whether everybody may send, without a secret, a token or a signature.'),
    registry: host
      .optional()
      .describe('The registry of all pushes; overrides the one in the payload. Required for senders that do not name one.'),
    repositories: repositories.optional(),
    waitForScan: z
      .boolean()
      .default(false)
      .describe(
        'For Harbor projects that forbid pulling images before they are scanned: a push waits until Harbor announces the end of its scan, for 10 minutes at most. See [Harbor](receivers/harbor.md#images-that-are-scanned-first).',
      ),
    showResults: z
      .boolean()
      .default(false)
      .describe(
        'Whether the sender may ask what became of its deliveries: which policies they concern, what was changed, and what holds an image. See [pipelines](pipelines.md).',
      ),
    requestsPerMinute: requestsPerMinute
      .optional()
      .describe('The maximum number of requests per minute; the default is listen.requestsPerMinute.'),
  })
  .describe('A receiver of webhooks.')
  .superRefine(authenticatesSomehow, always)
  .superRefine(repositoriesAreKnown, always)
  .superRefine(scansAreAnnounced, always);
