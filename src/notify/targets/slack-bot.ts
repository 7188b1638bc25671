import { isObject } from '../../core/model/untyped.ts';
import { messageOf, type NotificationTarget, type TargetRequest } from '../message.ts';
import type { SendResult } from '../../service/proxy/exchange.ts';
import { slackMessage } from './slack.ts';

/** The errors that concern the message, or an earlier one that is to be changed: the same request would be refused again. */
const refusals: ReadonlySet<string> = new Set([
  'invalid_blocks',
  'invalid_blocks_format',
  'invalid_attachments',
  'invalid_arguments',
  'msg_too_long',
  'msg_blocks_too_long',
  'no_text',
  'too_many_attachments',
  'cant_update_message',
  'edit_window_closed',
  'message_not_found',
  'thread_not_found',
]);

/**
 * A channel of Slack by a bot: https://docs.slack.dev/reference/methods/chat.postMessage. The secret is its token, and the URL https://slack.com/api?channel=ID. A later
 * notice changes the message (https://docs.slack.dev/reference/methods/chat.update) and answers in its thread; an answer that calls somebody is also shown in the channel.
 */
export const slackBot: NotificationTarget = {
  id: 'slackBot',
  via: 'http',
  channel: /^[A-Z][A-Z0-9]{1,63}$/,
  threads: {
    idOf: (json) => (isObject(json) && typeof json['ts'] === 'string' ? json['ts'] : undefined),
    id: /^\d{1,20}\.\d{1,10}$/,
    // A change has no settings of previews.
    change: (request, id) => withFields(request, '/chat.update', { ts: id, unfurl_links: undefined, unfurl_media: undefined }),
    answer: (request, id, calls) => withFields(request, '/chat.postMessage', { thread_ts: id, reply_broadcast: calls }),
    answerCalls: true,
  },
  readFailure,
  build: (content, delivery) => ({
    path: '/chat.postMessage',
    headers: { 'content-type': 'application/json; charset=utf-8', authorization: `Bearer ${delivery.secret}` },
    body: JSON.stringify({
      channel: delivery.channel,
      ...slackMessage(messageOf(content, delivery)),
      unfurl_links: false,
      unfurl_media: false,
    }),
  }),
};

function withFields({ headers, body }: TargetRequest, path: string, fields: object): TargetRequest {
  return { path, headers, body: JSON.stringify({ ...(JSON.parse(body) as object), ...fields }) };
}

/** Slack answers 200 to what it refuses, with the name of an error: https://docs.slack.dev/apis/web-api/#responses */
function readFailure(json: unknown): SendResult | undefined {
  if (isObject(json) && json['ok'] === true) return undefined;
  const error = isObject(json) && typeof json['error'] === 'string' && /^\w{1,64}$/.test(json['error']) ? json['error'] : 'no result';
  const message = `Slack answered ${error}`;
  if (refusals.has(error)) return { kind: 'refused', message };
  return { kind: 'failed', message, action: 'check the token, its scope chat:write, and that the bot is in the channel' };
}
