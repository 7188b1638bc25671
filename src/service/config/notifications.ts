/** Schema of the setting `notifications`: the targets, and the notices that they receive. */
import { z } from 'zod';
import {
  programTypes,
  publicUrls,
  statusTypes,
  targetTypes,
  typesWithSecret,
  type TargetType,
} from '../../core/model/notification-target.ts';
import { noticeKinds } from '../../core/model/notice.ts';
import { everything, urgentKinds } from '../../core/model/severity.ts';
import { forgeEnvironment, forgeRepositories } from '../resources/v1-fields/scalars.ts';
import { allowedHost, name, secretReference, reportTo } from './scalars.ts';

const mailbox = z.string().regex(/^[^\s@<>,;"]{1,64}@[^\s@<>,;"]{1,255}$/, 'an address such as ops@example.com');

const target = z
  .strictObject({
    name: name.describe('The name of the target, in metrics and the log.'),
    kind: z
      .enum(targetTypes)
      .describe(
        'What receives the messages. webhook: any HTTP endpoint, which gets signed CloudEvents. email: mails by SMTP. githubDeployment: deployments of GitHub, instead of messages. gitlabStatus, giteaStatus, bitbucketStatus: statuses of commits, instead of messages. pagerduty, opsgenie, incidentIo: incidents. slackBot, mattermostBot: a bot, which changes and answers its messages.',
      ),
    url: secretReference
      .optional()
      .describe(
        'The URL of the incoming webhook, which is a secret: {env: NAME} or {file: PATH}. With kind: telegram, https://api.telegram.org/botTOKEN/sendMessage?chat_id=ID; with kind: matrix, https://HOMESERVER/_matrix/client/v3/rooms/ID; with kind: slackBot, https://slack.com/api?channel=ID; with kind: mattermostBot, https://HOST/api/v4?channel=ID; with kind: incidentIo, https://api.incident.io/v2/alert_events/http/ID. With kind: email, that of the mail server: smtps://user:password@mail.example.com, or smtp:// for STARTTLS. With kind: githubDeployment, gitlabStatus, giteaStatus, bitbucketStatus, pagerduty or opsgenie, that of the API; by default the public one, which giteaStatus does not have.',
      ),
    secret: secretReference
      .optional()
      .describe(
        'The key that requests are signed with (kind: webhook; Standard Webhooks, `whsec_…`), the token (githubDeployment, gitlabStatus, giteaStatus, bitbucketStatus), the routing key (pagerduty), the API key (opsgenie), the token of the alert source (incidentIo), the access token (matrix) or the token of the bot (slackBot, mattermostBot): {env: NAME} or {file: PATH}. Required with these kinds.',
      ),
    insecure: z.boolean().default(false).describe('Whether the URL may be plain http, or a mail server without TLS.'),
    events: z
      .array(z.enum([...noticeKinds, everything]).describe('A kind of event.'))
      .min(1)
      .max(noticeKinds.length + 1)
      .optional()
      .describe(
        `What the target is notified of; "*" is everything. The default is what needs somebody (${urgentKinds.join(', ')}), and with kind: ${programTypes.join(', ')} everything.`,
      ),
    perMinute: z
      .int()
      .min(1)
      .max(6_000)
      .optional()
      .describe(
        `How many messages the target is sent in a minute; what exceeds that is summed up in one message. The default is 20, and with kind: ${programTypes.join(', ')} no limit.`,
      ),
    namespaces: z
      .array(name.describe('A namespace.'))
      .max(1_000)
      .default([])
      .describe(
        'The namespaces whose policies the target is notified of, and whose images that are built on a base. If the list is empty: the policies of all namespaces, and no single images.',
      ),
    policies: z
      .strictObject({
        matchLabels: z
          .record(z.string().min(1).max(317), z.string().max(63))
          .describe('The labels that a policy must have, each with its value.'),
      })
      .optional()
      .describe('The policies that the target is notified of, by their labels. The default is all of its namespaces.'),
    template: z
      .strictObject({
        title: z.string().min(1).max(1_000).optional().describe('The title, which is the subject of mails.'),
        text: z
          .string()
          .min(1)
          .max(4_000)
          .optional()
          .describe('The text, in place of the title and the facts, in the markup of the target.'),
      })
      .optional()
      .describe(`Your own texts, in Liquid. Not with kind: ${programTypes.join(', ')}.`),
    email: z
      .strictObject({
        from: mailbox.describe('The sender.'),
        to: z.array(mailbox.describe('A recipient.')).min(1).max(50).describe('The recipients.'),
      })
      .optional()
      .describe('The addresses. Required with kind: email.'),
    github: z
      .strictObject({
        environment: forgeEnvironment.describe('The environment of the deployments.'),
        repositories: forgeRepositories
          .optional()
          .describe('The repositories whose deployments may be reported, such as "shop/*"; by default all that the token may write.'),
      })
      .optional()
      .describe('Where deployments are reported. Required with kind: githubDeployment.'),
    commitStatus: z
      .strictObject({
        environment: forgeEnvironment.describe('The environment, with which the names of statuses begin.'),
        repositories: forgeRepositories
          .optional()
          .describe('The repositories whose commits may get a status, such as "shop/*"; by default all that the token may write.'),
      })
      .optional()
      .describe(`Which statuses of commits are set. Required with kind: ${statusTypes.join(', ')}.`),
  })
  .superRefine(({ kind, url, secret, email, github, commitStatus, template }, context) => {
    const report = reportTo(context);
    /** What some kinds need, and the others do not have. */
    const needs = (key: string, value: unknown, kinds: readonly TargetType[], what: string) => {
      if (kinds.includes(kind) === (value !== undefined)) return;
      report(key, value === undefined ? `is required: ${what}` : `is only used with kind: ${kinds.join(', ')}`);
    };
    if (template !== undefined && programTypes.includes(kind)) report('template', `is not used with kind: ${kind}`);
    if (url === undefined && publicUrls[kind] === undefined) report('url', 'is required: {env: NAME} or {file: PATH}');
    needs('github', github, ['githubDeployment'], 'the environment');
    needs('commitStatus', commitStatus, statusTypes, 'the environment');
    needs('email', email, ['email'], 'the sender and the recipients');
    needs('secret', secret, typesWithSecret, 'the key that requests are signed with, the token, or the key of the API');
  });

/** Schema of the setting `notifications`. */
export const notifications = z
  .strictObject({
    hosts: z
      .array(allowedHost.describe('A host.'))
      .max(100)
      .default([])
      .describe(
        'The hosts to which the NotificationTargets of namespaces may send messages, besides those of the public chats. `*.` stands for any name before the rest; plain http must be written.',
      ),
    targets: z
      .array(target.describe('A target.'))
      .max(100)
      .superRefine((targets, context) => {
        targets.forEach(({ name }, index) => {
          if (targets.findIndex((other) => other.name === name) < index)
            reportTo(context)([index, 'name'], `"${name}" is the name of another target`);
        });
      })
      .default([])
      .describe('The chats and endpoints that messages are sent to.'),
  })
  .describe('Messages about updates, rollouts and what needs a user. See [Notifications](notifications.md).')
  .prefault({});
