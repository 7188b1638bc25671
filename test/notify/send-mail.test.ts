/** Mails to a real SMTP server that accepts, refuses, hangs and is not what it says. */
import assert from 'node:assert/strict';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { deliver } from '../../src/notify/deliver.ts';
import type { ConfiguredTarget } from '../../src/core/model/configured-target.ts';
import { sendMail, type MailOptions } from '../../src/notify/send-mail.ts';
import { createAuthority, loopback } from '../harness/server-certificate.ts';

const password = 'a-secret-of-the-mail-server';
const request = { headers: { subject: '[image-watcher] shop/web 1.1.0 rolled out' }, body: 'Image: 1.1.0\n' };
const options: MailOptions = {
  from: 'image-watcher@example.com',
  to: ['ops@example.com', 'dev@example.com'],
  id: 'notice/1',
  insecure: true,
  signal: new AbortController().signal,
};

/** A server, and the mails that it has accepted. */
async function startSmtp(t: TestContext, more: SMTPServerOptions = {}) {
  const mails: { mail: string; to: string[]; user: string | undefined }[] = [];
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    authOptional: true,
    allowInsecureAuth: true,
    disableReverseLookup: true,
    onAuth: (auth, _session, done) =>
      auth.password === password ? done(null, { user: auth.username }) : done(Object.assign(new Error('535 wrong'), { responseCode: 535 })),
    onData(stream, { envelope, user }, done) {
      let mail = '';
      stream.on('data', (chunk: Buffer) => (mail += chunk.toString()));
      stream.on('end', () => {
        mails.push({ mail, to: envelope.rcptTo.map(({ address }) => address), user: user as string | undefined });
        done();
      });
    },
    ...more,
  });
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => new Promise<void>((resolve) => server.close(() => resolve())));
  const { port } = server.server.address() as AddressInfo;
  return { mails, url: (user = '') => new URL(`${more.secure === true ? 'smtps' : 'smtp'}://${user}127.0.0.1:${port}`) };
}

const answered = (responseCode: number) => Object.assign(new Error('not now'), { responseCode });

describe('a mail', () => {
  it('reaches its recipients, with an id that is the same at every try', async (t) => {
    const { mails, url } = await startSmtp(t);
    for (let tries = 0; tries < 2; tries++) {
      const result = await sendMail(url(`ops:${password}@`), request, options);
      assert.deepEqual(result, { kind: 'sent', message: `mail by ${url().href} was answered 250` });
    }
    const [first, second] = mails;
    assert.deepEqual([first?.to, first?.user], [['ops@example.com', 'dev@example.com'], 'ops']);
    for (const line of [
      /^Subject: \[image-watcher\] shop\/web 1\.1\.0 rolled out\r$/m,
      /^Message-ID: <notice\.1@image-watcher>\r$/m,
      /^Auto-Submitted: auto-generated\r$/m,
      /^Image: 1\.1\.0\r$/m,
    ])
      assert.match(first?.mail ?? '', line);
    assert.match(second?.mail ?? '', /^Message-ID: <notice\.1@image-watcher>/m);
  });

  it('has its text in HTML as an alternative', async (t) => {
    const { mails, url } = await startSmtp(t);
    await sendMail(url(), { ...request, html: '<p>Image: <b>1.1.0</b></p>' }, options);
    const mail = mails[0]?.mail ?? '';
    const types = [...mail.matchAll(/^Content-Type: ([a-z]+\/[a-z]+)/gm)].map(([, type]) => type);
    assert.deepEqual(types, ['multipart/alternative', 'text/plain', 'text/html']);
    assert.match(mail, /^Image: 1\.1\.0\r$/m);
    assert.match(mail, /^<p>Image: <b>1\.1\.0<\/b><\/p>/m);
  });

  for (const [status, kind] of [
    [451, 'failed'],
    [421, 'failed'],
    [550, 'refused'],
    [552, 'refused'],
  ] as const)
    it(`is ${kind} if the server answers ${status}`, async (t) => {
      const { url } = await startSmtp(t, { onRcptTo: (_address, _session, done) => done(answered(status)) });
      assert.equal((await sendMail(url(), request, options)).kind, kind);
    });

  it('leads to a message about a wrong password with the remedy, without the password', async (t) => {
    const { url } = await startSmtp(t);
    const result = await sendMail(url('someone-unknown:another-secret-password@'), request, options);
    assert.equal(result.kind, 'failed');
    assert.match(JSON.stringify(result), /check the user and password/);
    assert.doesNotMatch(JSON.stringify(result), /another-secret-password|someone-unknown/);
  });

  it('is not sent without TLS unless that is allowed', async (t) => {
    const { mails, url } = await startSmtp(t);
    const result = await sendMail(url(), request, { ...options, insecure: false });
    assert.equal(result.kind, 'failed');
    assert.match(JSON.stringify(result), /STARTTLS/);
    assert.deepEqual(mails, []);
  });

  it('is not sent to a server whose certificate is from an unknown authority', async (t) => {
    const { cert, key } = await (await createAuthority('nobody knows')).issue(loopback);
    for (const secure of [true, false]) {
      const { mails, url } = await startSmtp(t, { secure, cert, key, disabledCommands: [] });
      const result = await sendMail(url(), request, { ...options, insecure: false });
      assert.equal(result.kind, 'failed');
      assert.match(JSON.stringify(result), /NODE_EXTRA_CA_CERTS|certificate/);
      assert.deepEqual(mails, []);
    }
  });

  it('counts as failed if the server does not answer in time, or when its sender stops', async (t) => {
    const sockets = new Set<Socket>();
    const silent = createServer((socket) => void sockets.add(socket));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    t.after(() => {
      for (const socket of sockets) socket.destroy();
      silent.close();
    });
    const url = new URL(`smtp://127.0.0.1:${(silent.address() as AddressInfo).port}`);
    assert.equal((await sendMail(url, request, { ...options, timeoutMs: 50 })).kind, 'failed');
    const stop = new AbortController();
    const sending = sendMail(url, request, { ...options, signal: stop.signal });
    stop.abort();
    assert.equal((await sending).kind, 'failed');
  });

  it('cannot get further headers from texts of others', async (t) => {
    const { mails, url } = await startSmtp(t);
    const hostile = { headers: { subject: 'web\r\nBcc: everybody@example.com' }, body: '.\r\nMAIL FROM:<x@example.com>\r\n' };
    await sendMail(url(), hostile, options);
    assert.deepEqual(
      mails.map(({ to }) => to),
      [options.to],
    );
    assert.doesNotMatch(mails[0]?.mail ?? '', /^Bcc:/m);
  });
});

describe('a target of kind email', () => {
  const target: ConfiguredTarget = {
    name: 'ops',
    kind: 'email',
    events: [],
    namespaces: [],
    insecure: false,
    url: () => 'smtps://mail.example.com',
    secret: () => '',
  };
  const content = { type: 'test', target: 'ops', at: '2026-11-23T12:00:00Z' } as const;
  const means = { id: '1', now: Date.now, signal: options.signal, exchange: () => assert.fail('posted') };
  for (const [name, changed, message] of [
    ['without addresses', {}, /email\.from/],
    ['with the URL of a chat', { url: () => 'https://chat.example.com', email: options }, /smtps: or smtp: URL/],
  ] as const)
    it(`is refused with the missing setting: ${name}`, async () => {
      const result = await deliver({ ...target, ...changed }, content, { ...means, mail: () => assert.fail('sent') });
      assert.match(JSON.stringify(result), message);
    });
});
