import { z } from 'zod';
import type { ClaimedPush, IgnoredPush } from '../../../core/model/push-event.ts';
import { type CloudEvent, readStructuredCloudEvent } from './cloud-events.ts';
import { headerOf, verifyAnyHeader } from './headers.ts';
import { MalformedBody, type Provider, type Delivery } from './provider.ts';
import { filled, optionalText as text, parseJsonBody, toParsedDelivery } from './read-payload.ts';

const detail = z.object({
  result: text,
  'action-type': text,
  'repository-name': text,
  'image-tag': text,
  'image-digest': text,
  'manifest-media-type': text,
  'artifact-media-type': text,
});
const eventBridgeEvent = z.object({
  id: text,
  'detail-type': z.string(),
  source: z.string(),
  account: text,
  region: text,
  time: text,
  detail: detail.nullish().catch(undefined),
});
/** The event as transformed by the input transformer in the documentation of Argo CD Image Updater, whose EventBridge rules can be reused. */
const transformed = z.object({ repositoryName: text, imageTag: text, imageDigest: text });
/** The envelope of SNS. The receiver verifies its signature and confirms subscriptions; this file only parses it. */
const snsMessage = z.object({
  Type: z.enum(['Notification', 'SubscriptionConfirmation', 'UnsubscribeConfirmation']),
  MessageId: text,
  TopicArn: text,
  Message: z.string().nullish().catch(undefined),
});

type Result = ClaimedPush | IgnoredPush;

/** The events by which an image arrives in a repository. A replication is announced by its destination, in the region and account of the event. */
const arrivals: Readonly<Record<string, { readonly action: string; readonly name: string }>> = {
  'ECR Image Action': { action: 'PUSH', name: 'push' },
  'ECR Replication Action': { action: 'REPLICATE', name: 'replication' },
};

/** Amazon ECR: EventBridge events by an API destination, or by an SNS topic (with or without raw delivery). */
export const ecr: Provider = {
  id: 'ecr',
  documentation: 'https://docs.aws.amazon.com/AmazonECR/latest/userguide/ecr-eventbridge.html',
  verify: verifyAnyHeader,
  parse: (delivery) => toParsedDelivery([readDelivery(delivery)]),
};

function readDelivery(delivery: Delivery): Result {
  const document = parseJsonBody(z.unknown(), delivery.body);
  const sns = snsMessage.safeParse(document).data;
  if (sns === undefined) return readEvent(document, headerOf(delivery, 'x-amz-sns-message-id'));
  const topic = sns.TopicArn ? ` of the topic ${sns.TopicArn}` : '';
  if (sns.Type === 'UnsubscribeConfirmation') return { reason: `not a push: the subscription${topic} was ended` };
  if (sns.Type === 'SubscriptionConfirmation') {
    return { reason: `not a push: a subscription${topic}, which is confirmed only for topics under "sns" of the receiver` };
  }
  return readEvent(parseJsonBody(z.unknown(), Buffer.from(sns.Message ?? '')), sns.MessageId);
}

/** Reads an event. Its own id is preferred to that of the SNS message, because it is the same for every way of delivery. */
function readEvent(document: unknown, messageId: string | null | undefined): Result {
  const cloudEvent = readStructuredCloudEvent(document);
  if (cloudEvent !== undefined) return readCloudEvent(cloudEvent, messageId);
  const event = eventBridgeEvent.safeParse(document).data;
  if (event === undefined) throw new MalformedBody('not an event of EventBridge');
  const { 'detail-type': type, source, detail, account, region, id, time } = event;
  const repository = detail?.['repository-name'] || undefined;
  const tag = detail?.['image-tag'] || undefined;
  const action = detail?.['action-type'] ?? '';
  const ignored = (reason: string): IgnoredPush => ({ reason, ...filled({ repository, tag }) });
  if (source !== 'aws.ecr') return ignored(`not an event of ECR: ${source.slice(0, 64)}`);
  const arrival = Object.hasOwn(arrivals, type) ? arrivals[type] : undefined;
  if (arrival?.action !== action) return ignored(`not a push: ${type.slice(0, 64)} ${action.slice(0, 64)}`.trim());
  if (detail?.result !== 'SUCCESS') return ignored(`the ${arrival.name} did not succeed: ${(detail?.result ?? 'no result').slice(0, 64)}`);
  if (repository === undefined) return { code: 'Incomplete', reason: 'the event names no repository', ...(tag && { tag }) };
  const registry = ecrHost(account ?? '', region ?? '');
  return {
    repository,
    ...filled({
      registry,
      tag,
      digest: detail['image-digest'],
      mediaType: detail['manifest-media-type'],
      configMediaType: detail['artifact-media-type'],
      idempotencyKey: id || messageId,
      pushedAt: time,
    }),
  };
}

function readCloudEvent({ type, source, id, time, data }: CloudEvent, messageId: string | null | undefined): Result {
  const { repositoryName: repository, imageTag: tag, imageDigest: digest } = transformed.safeParse(data).data ?? {};
  if (type !== 'com.amazon.ecr.image.push') return { reason: `not a push: ${type.slice(0, 64)}` };
  if (!repository) return { code: 'Incomplete', reason: 'the event names no repository' };
  const [, region = '', account = ''] = /^(?:urn|arn):aws[a-z-]*:ecr:([^:/]*):([^:/]*):/.exec(source ?? '') ?? [];
  const registry = ecrHost(account, region);
  return {
    repository,
    ...filled({ registry, tag, digest, idempotencyKey: id || messageId, pushedAt: time }),
  };
}

/** The DNS suffixes of the AWS partitions, by the prefix of the region's name (AWS documentation: service endpoints). */
const domains: readonly [regions: string, domain: string][] = [
  ['cn-', 'amazonaws.com.cn'],
  ['us-iso-', 'c2s.ic.gov'],
  ['us-isob-', 'sc2s.sgov.gov'],
  ['us-isof-', 'csp.hci.ic.gov'],
  ['eu-isoe-', 'cloud.adc-e.uk'],
  ['eusc-', 'amazonaws.eu'],
];

/**
 * The registry host of an account, `123456789012.dkr.ecr.eu-west-1.amazonaws.com`; undefined for an invalid account or region.
 * Its dual-stack and FIPS hosts are aliases, which the user lists in the configuration (`registries[].aliases`).
 */
export function ecrHost(account: string, region: string): string | undefined {
  if (!/^\d{12}$/.test(account) || !/^[a-z]{2,4}(?:-[a-z]+)+-\d{1,2}$/.test(region)) return undefined;
  const domain = domains.find(([beginning]) => region.startsWith(beginning))?.[1] ?? 'amazonaws.com';
  return `${account}.dkr.ecr.${region}.${domain}`;
}
