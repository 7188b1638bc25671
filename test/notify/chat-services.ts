/** Chats that accept only what their documentation describes, and show what their readers would see. */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A message as readers of the channel see it. */
export interface ShownMessage {
  readonly id: string;
  title: string;
  /** The titles of the answers below it. `!` marks those that are also shown in the channel. */
  readonly answers: string[];
}

/** The form of one service: what it accepts, and how it answers. */
export interface ChatForm {
  readonly kind: 'slackBot' | 'mattermostBot' | 'discord';
  /** The path and the query of the target's URL. */
  readonly url: string;
  readonly secret: string;
  /** Handles a request. Throws for what the service does not accept. */
  readonly handle: (request: ChatRequest, channel: Channel) => ChatAnswer;
}

export interface ChatRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: Readonly<Record<string, unknown>>;
}

export interface ChatAnswer {
  readonly status: number;
  readonly body: object;
}

/** The messages of a channel. */
export interface Channel {
  readonly messages: ShownMessage[];
  post(id: string, title: string): void;
  find(id: unknown): ShownMessage | undefined;
}

const check = (holds: boolean, what: string) => {
  if (!holds) throw new Error(what);
};
const onlyFields = (body: object, known: readonly string[]) =>
  check(
    Object.keys(body).every((key) => known.includes(key)),
    `unknown field among ${Object.keys(body).join(', ')}`,
  );
const isList = (value: unknown): value is readonly Readonly<Record<string, unknown>>[] => Array.isArray(value);

/** https://docs.slack.dev/reference/methods/chat.postMessage, https://docs.slack.dev/reference/methods/chat.update: errors are answered 200. */
export const slack: ChatForm = {
  kind: 'slackBot',
  url: '/api?channel=C0123456789',
  secret: 'xoxb-token-of-the-bot',
  handle({ method, path, query, headers, body }, channel) {
    const fails = (error: string) => ({ status: 200, body: { ok: false, error } });
    if (headers.authorization !== 'Bearer xoxb-token-of-the-bot') return fails('invalid_auth');
    check(method === 'POST' && query.size === 0, `${method} ${query.toString()}`);
    check(headers['content-type'] === 'application/json; charset=utf-8', 'content type');
    if (body['channel'] !== 'C0123456789') return fails('channel_not_found');
    const { text: title, blocks, attachments } = body;
    check(typeof title === 'string' && isList(blocks) && isList(attachments), 'text, blocks, attachments');
    if (path === '/api/chat.update') {
      onlyFields(body, ['channel', 'ts', 'text', 'blocks', 'attachments', 'link_names']);
      const message = channel.find(body['ts']);
      if (message === undefined) return fails('message_not_found');
      message.title = String(title);
      return { status: 200, body: { ok: true, channel: 'C0123456789', ts: message.id } };
    }
    check(path === '/api/chat.postMessage', path);
    onlyFields(body, [
      'channel',
      'text',
      'blocks',
      'attachments',
      'link_names',
      'unfurl_links',
      'unfurl_media',
      'thread_ts',
      'reply_broadcast',
    ]);
    const { thread_ts: thread, reply_broadcast: isShown } = body;
    const ts = `17644${String(channel.messages.length).padStart(5, '0')}.000100`;
    if (thread === undefined) channel.post(ts, String(title));
    else {
      const message = channel.find(thread);
      if (message === undefined) return fails('thread_not_found');
      message.answers.push(`${isShown === true ? '!' : ''}${String(title)}`);
    }
    return { status: 200, body: { ok: true, channel: 'C0123456789', ts } };
  },
};

/** https://developers.mattermost.com/api-documentation/: CreatePost and PatchPost. */
export const mattermost: ChatForm = {
  kind: 'mattermostBot',
  url: '/api/v4?channel=abcdefghijklmnopqrstuvwxy1',
  secret: 'token-of-the-bot',
  handle({ method, path, query, headers, body }, channel) {
    if (headers.authorization !== 'Bearer token-of-the-bot') return { status: 401, body: { id: 'api.context.session_expired.app_error' } };
    check(query.size === 0, query.toString());
    const title = String(body['message']);
    const { attachments } = body['props'] as { attachments: unknown };
    check(isList(attachments), 'props.attachments');
    const [, id] = /^\/api\/v4\/posts\/(\w+)\/patch$/.exec(path) ?? [];
    if (id !== undefined) {
      check(method === 'PUT', method);
      onlyFields(body, ['message', 'props']);
      const message = channel.find(id);
      if (message === undefined) return { status: 404, body: { id: 'app.post.get.app_error' } };
      message.title = title;
      return { status: 200, body: { id } };
    }
    check(method === 'POST' && path === '/api/v4/posts', `${method} ${path}`);
    onlyFields(body, ['channel_id', 'message', 'props', 'root_id']);
    if (body['channel_id'] !== 'abcdefghijklmnopqrstuvwxy1') return { status: 403, body: { id: 'api.context.permissions.app_error' } };
    const made = `post${String(channel.messages.length).padStart(22, '0')}`;
    const { root_id: root } = body;
    if (root === undefined) channel.post(made, title);
    else {
      const message = channel.find(root);
      if (message === undefined) return { status: 400, body: { id: 'api.post.create_post.root_id.app_error' } };
      message.answers.push(title);
    }
    return { status: 201, body: { id: made } };
  },
};

/** https://discord.com/developers/docs/resources/webhook: Execute Webhook and Edit Webhook Message, in a thread of the channel. */
export const discord: ChatForm = {
  kind: 'discord',
  url: '/api/webhooks/123/the-token-of-the-webhook?thread_id=42',
  secret: '',
  handle({ method, path, query, body }, channel) {
    check(query.get('thread_id') === '42', 'thread_id');
    const { embeds, allowed_mentions: mentions } = body;
    check(isList(embeds) && JSON.stringify(mentions) === '{"parse":[]}', 'embeds, allowed_mentions');
    onlyFields(body, ['embeds', 'allowed_mentions']);
    const title = isList(embeds) ? String(embeds[0]?.['title']) : '';
    const [, id] = /^\/api\/webhooks\/123\/the-token-of-the-webhook\/messages\/(\d+)$/.exec(path) ?? [];
    if (id !== undefined) {
      check(method === 'PATCH' && query.get('wait') === null, `${method} ${query.toString()}`);
      const message = channel.find(id);
      if (message === undefined) return { status: 404, body: { message: 'Unknown Message', code: 10008 } };
      message.title = title;
      return { status: 200, body: { id } };
    }
    check(method === 'POST' && path === '/api/webhooks/123/the-token-of-the-webhook', `${method} ${path}`);
    const made = `1100${channel.messages.length}`;
    channel.post(made, title);
    // Without `wait`, there is no body.
    check(query.get('wait') === 'true', 'wait');
    return { status: 200, body: { id: made } };
  },
};

/** Starts a service on a free port. `refused`: what was not of its form. */
export async function startChat(form: ChatForm) {
  const messages: ShownMessage[] = [];
  const refused: string[] = [];
  const requests: string[] = [];
  const channel: Channel = {
    messages,
    post: (id, title) => void messages.push({ id, title, answers: [] }),
    find: (id) => messages.find((one) => one.id === id),
  };
  let next: ChatAnswer | undefined;
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
      const { method = '', headers } = request;
      requests.push(`${method} ${pathname}`);
      let answer = next;
      next = undefined;
      try {
        const json = JSON.parse(body) as Record<string, unknown>;
        answer ??= form.handle({ method, path: pathname, query: searchParams, headers, body: json }, channel);
      } catch (error) {
        refused.push(String(error));
        answer = { status: 400, body: {} };
      }
      return response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${form.url}`,
    messages,
    refused,
    requests,
    /** Answers the next request so, whatever it is. */
    answerNext: (answer: ChatAnswer) => void (next = answer),
    stop: () => void server.close(),
  };
}
