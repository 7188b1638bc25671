/** The schema of NotificationTarget v1, which users write and the cluster stores. */
import { z } from 'zod';
import { noticeKinds, type NoticeKind } from '../../core/model/notice.ts';
import {
  programTypes,
  publicUrls,
  statusTypes,
  targetStatusSchema,
  targetTypes,
  typesWithSecret,
} from '../../core/model/notification-target.ts';
import { everything, urgentKinds } from '../../core/model/severity.ts';
import { withRules } from '../../service/resources/rules.ts';
import { distinct, forgeEnvironment, forgeRepositories, secretKeyOf } from '../../service/resources/v1-fields/scalars.ts';

const secretKey = secretKeyOf('the target');

const mailbox = (what: string) =>
  z
    .string()
    .min(3)
    .max(320)
    .regex(/^[^\s@<>,;"]{1,64}@[^\s@<>,;"]{1,255}$/, 'an address such as ops@example.com')
    .describe(what);

/** A list in CEL. */
const listOf = (types: readonly string[]) => `[${types.map((type) => `'${type}'`).join(', ')}]`;

/** The kinds of notices about policies. Those about certificates of the service belong to no namespace. */
const isOfPolicy = (kind: NoticeKind) => kind !== 'CertificateExpiring';
const events = noticeKinds.filter(isOfPolicy);
const urgent = urgentKinds.filter(isOfPolicy);

/** The schema of `spec`, as users write it. */
export const targetSpecSchema = withRules(
  z
    .object({
      type: z
        .enum(targetTypes)
        .describe(
          'What receives the messages. webhook: any HTTP endpoint, which gets signed CloudEvents. email: mails by SMTP. githubDeployment: deployments of GitHub, instead of messages. gitlabStatus, giteaStatus, bitbucketStatus: statuses of commits, instead of messages. pagerduty, opsgenie, incidentIo: incidents. slackBot, mattermostBot: a bot, which changes and answers its messages.',
        ),
      urlSecretRef: secretKey(
        'The Secret with the URL of the incoming webhook, of the bot and its chat (https://api.telegram.org/botTOKEN/sendMessage?chat_id=ID), of the room of Matrix (https://HOMESERVER/_matrix/client/v3/rooms/ID), of the channel of a bot (https://slack.com/api?channel=ID, https://HOST/api/v4?channel=ID for Mattermost), of the alert source of incident.io (https://api.incident.io/v2/alert_events/http/ID), or of the mail server (smtps://user:password@mail.example.com). Its host must be allowed by notifications.hosts of the configuration. With type githubDeployment, gitlabStatus, giteaStatus, bitbucketStatus, pagerduty or opsgenie, that of the API; by default the public one, which giteaStatus does not have.',
      ).exactOptional(),
      secretRef: secretKey(
        'The Secret with the key that requests are signed with (type webhook; Standard Webhooks), the token (githubDeployment, gitlabStatus, giteaStatus, bitbucketStatus), the routing key (pagerduty), the API key (opsgenie), the token of the alert source (incidentIo), the access token (matrix) or the token of the bot (slackBot, mattermostBot). Required with these types.',
      ).exactOptional(),
      email: z
        .object({
          from: mailbox('The sender.'),
          to: distinct(z.array(mailbox('A recipient.')).min(1).max(50).describe('The recipients.')),
        })
        .describe('The addresses. Required with type email.')
        .exactOptional(),
      github: z
        .object({
          environment: forgeEnvironment.describe('The environment of the deployments.'),
          repositories: distinct(
            forgeRepositories.describe(
              'The repositories whose deployments may be reported, such as "shop/*"; by default all that the token may write.',
            ),
          ).exactOptional(),
        })
        .describe('Where deployments are reported. Required with type githubDeployment.')
        .exactOptional(),
      commitStatus: z
        .object({
          environment: forgeEnvironment.describe('The environment, with which the names of statuses begin.'),
          repositories: distinct(
            forgeRepositories.describe(
              'The repositories whose commits may get a status, such as "shop/*"; by default all that the token may write.',
            ),
          ).exactOptional(),
        })
        .describe(`Which statuses of commits are set. Required with type ${statusTypes.join(', ')}.`)
        .exactOptional(),
      template: z
        .object({
          title: z.string().min(1).max(1_000).describe('The title, which is the subject of mails.').exactOptional(),
          text: z
            .string()
            .min(1)
            .max(4_000)
            .describe('The text, in place of the title and the facts, in the markup of the target.')
            .exactOptional(),
        })
        .describe(`Your own texts, in Liquid. Not with type ${programTypes.join(', ')}.`)
        .exactOptional(),
      events: distinct(
        z
          .array(z.enum([...events, everything]).describe('A kind of event.'))
          .min(1)
          .max(events.length + 1)
          .describe(
            `What the target is notified of; "*" is everything. The default is what needs somebody (${urgent.join(', ')}), and with type ${programTypes.join(', ')} everything. Behind, Rebased, RebuildRequested and Refused are about images that workloads of the namespace run, and that are built on the base of a BaseImagePolicy of any namespace.`,
          ),
      ).exactOptional(),
      policies: z
        .object({
          matchLabels: z
            .record(z.string().min(1).max(317), z.string().max(63).describe('Value of a label.'))
            .meta({ maxProperties: 16 })
            .describe('The labels that a policy must have, each with its value.'),
        })
        .describe('The policies that the target is notified of, by their labels. The default is all policies of the namespace.')
        .exactOptional(),
      perMinute: z
        .int()
        .min(1)
        .max(6_000)
        .describe(
          `How many messages the target is sent in a minute; what exceeds that is summed up in one message. The default is 20, and with type ${programTypes.join(', ')} no limit.`,
        )
        .exactOptional(),
      suspend: z.boolean().describe('Whether the target gets no messages for now.').exactOptional(),
    })
    .describe('What receives messages about the policies of the namespace, and which messages.'),
  [
    {
      rule: "(self.type == 'email') == has(self.email)",
      message: 'write email, with from and to, with type email only',
    },
    {
      rule: `(self.type in ${listOf(typesWithSecret)}) == has(self.secretRef)`,
      message: `write secretRef, a signing key, a token or the key of an API, with type ${typesWithSecret.join(', ')} only`,
    },
    {
      rule: "(self.type == 'githubDeployment') == has(self.github)",
      message: 'write github, with an environment, with type githubDeployment only',
    },
    {
      rule: `(self.type in ${listOf(statusTypes)}) == has(self.commitStatus)`,
      message: `write commitStatus, with an environment, with type ${statusTypes.join(', ')} only`,
    },
    {
      rule: `!has(self.template) || !(self.type in ${listOf(programTypes)})`,
      message: 'a template is for messages: remove it, or write another type',
    },
    {
      rule: `self.type in ${listOf(Object.keys(publicUrls))} || has(self.urlSecretRef)`,
      message: 'write urlSecretRef: the Secret with the URL',
    },
  ],
);

/** The schema of the whole resource except `metadata`. */
export const targetSchema = withRules(
  z
    .object({ spec: targetSpecSchema.exactOptional(), status: targetStatusSchema.exactOptional() })
    .describe('Sends messages about the policies of its namespace to a chat, a mailbox or an endpoint.'),
  [{ rule: 'has(self.spec)', message: 'write a spec: type and urlSecretRef' }],
);
