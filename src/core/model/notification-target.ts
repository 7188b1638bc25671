/** The model of a NotificationTarget, with which a team gets notices about its own policies. */
import { z } from 'zod';
import type { Immutable } from './immutable.ts';
import { conditionSchema } from './policy-status.ts';
import type { NoticeKind } from './notice.ts';
import type { ApiObject, PolicyProblem } from './image-policy.ts';

/** The types of systems that receive messages. */
export const targetTypes = [
  'slack',
  'slackBot',
  'mattermost',
  'mattermostBot',
  'discord',
  'teams',
  'googleChat',
  'webhook',
  'email',
  'githubDeployment',
  'gitlabStatus',
  'giteaStatus',
  'bitbucketStatus',
  'pagerduty',
  'opsgenie',
  'incidentIo',
  'telegram',
  'matrix',
] as const;
export type TargetType = (typeof targetTypes)[number];

/** The types that set the status of the commit that an image was built from. */
export const statusTypes = ['gitlabStatus', 'giteaStatus', 'bitbucketStatus'] as const satisfies readonly TargetType[];
export type StatusType = (typeof statusTypes)[number];

/** The types that report to the Git host of an image's source, instead of sending messages. */
const forgeTypes = ['githubDeployment', ...statusTypes] as const satisfies readonly TargetType[];
export type ForgeType = (typeof forgeTypes)[number];

/** The types of programs and services, which get every notice, and whose texts nobody chooses. */
export const programTypes: readonly TargetType[] = ['webhook', ...forgeTypes, 'pagerduty', 'opsgenie', 'incidentIo'];

/** The types that need a secret besides the URL: a signing key, a token or the key of an API. */
export const typesWithSecret: readonly TargetType[] = [...programTypes, 'matrix', 'slackBot', 'mattermostBot'];

/** The public addresses of the APIs of services, for targets that name none. */
export const publicUrls: Readonly<Partial<Record<TargetType, string>>> = {
  githubDeployment: 'https://api.github.com',
  pagerduty: 'https://events.pagerduty.com/v2/enqueue',
  opsgenie: 'https://api.opsgenie.com/v2/alerts',
  gitlabStatus: 'https://gitlab.com/api/v4',
  bitbucketStatus: 'https://api.bitbucket.org/2.0',
};

/** What is reported to a Git host: for which environment, and for which repositories. */
export interface ForgeSettings {
  readonly environment: string;
  /** Patterns of repositories such as `shop/*`; absent for all that the token may write. */
  readonly repositories?: readonly string[] | undefined;
}

/** Whether targets of a type report to a Git host. */
export function isForgeType(type: TargetType): type is ForgeType {
  return (forgeTypes as readonly TargetType[]).includes(type);
}

/** The templates of messages, in Liquid; absent for the built-in ones. */
export interface MessageTemplate {
  readonly title?: string | undefined;
  readonly text?: string | undefined;
}

/** The default maximum of messages in a minute: limited for people, and unlimited for programs. */
export function defaultPerMinute(type: TargetType): number | undefined {
  return programTypes.includes(type) ? undefined : 20;
}

export interface NotificationTarget extends ApiObject {
  /** The spec, or why it cannot be used. */
  readonly spec: NotificationTargetSpec | PolicyProblem;
  readonly status: TargetStatus;
}

export interface NotificationTargetSpec {
  readonly type: TargetType;
  /** The key of a Secret with the address. It may be absent only for types with a public address. */
  readonly urlSecret?: SecretKeyRef;
  /** The key of a Secret with the signing key for requests, or with a token. */
  readonly secret?: SecretKeyRef;
  readonly email?: { readonly from: string; readonly to: readonly string[] };
  /** The settings of the types that report to a Git host. */
  readonly forge?: ForgeSettings;
  readonly template?: MessageTemplate;
  readonly events: readonly NoticeKind[];
  readonly policyLabels: Readonly<Record<string, string>>;
  readonly perMinute?: number;
  readonly suspended: boolean;
}

/** One key of a Secret in the same namespace. */
export interface SecretKeyRef {
  readonly name: string;
  readonly key: string;
}

/** The reasons of the condition Ready of a target. */
export const targetReasons = [
  'Configured',
  'Delivered',
  'Suspended',
  'InvalidTarget',
  'SecretNotUsable',
  'HostNotAllowed',
  'TooManyTargets',
  'NotAccepted',
] as const;
export type TargetReason = (typeof targetReasons)[number];

/** The schema of `status` of a NotificationTarget. */
export const targetStatusSchema = z
  .object({
    observedGeneration: z.int().min(0).exactOptional().describe('The generation of the target that was last checked.'),
    conditions: z
      .array(conditionSchema)
      .max(8)
      .exactOptional()
      .describe('Ready: whether messages can be sent, and whether the last one was accepted.')
      .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] }),
  })
  .describe('What the service found.');

export type TargetStatus = Immutable<z.output<typeof targetStatusSchema>>;

/** Whether the spec can be used. */
export function isUsableTarget(target: NotificationTarget): target is NotificationTarget & { readonly spec: NotificationTargetSpec } {
  return !('problem' in target.spec);
}
