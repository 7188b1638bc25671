/** Where the NotificationTargets of namespaces may send messages. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isAllowedHost } from '../../src/notify/allowed-hosts.ts';

const hosts = [
  'chat.example.com',
  '*.hooks.example.com',
  'mail.example.com',
  'relay.example.com:2525',
  'http://chat.internal:8065',
  'http://plain.internal',
];

describe('a NotificationTarget', () => {
  for (const url of [
    'https://hooks.slack.com/services/T/B/x',
    'https://prod-12.westeurope.logic.azure.com/workflows/x',
    'https://events.eu.pagerduty.com/v2/enqueue',
    'https://api.telegram.org/bot1:a/sendMessage?chat_id=-1',
    'https://chat.example.com/hooks/x',
    'https://chat.example.com:443/hooks/x',
    'https://CHAT.example.com/hooks/x',
    'https://a.hooks.example.com/',
    'https://a.b.hooks.example.com/',
    'smtps://user:password@mail.example.com',
    'smtps://mail.example.com:465',
    'smtp://mail.example.com',
    'smtp://relay.example.com:2525',
    'http://chat.internal:8065/hooks/x',
    'http://plain.internal/x',
  ])
    it(`may have the URL ${url}`, () => assert.ok(isAllowedHost(new URL(url), hosts)));

  for (const url of [
    'https://evil.example/x',
    'http://hooks.slack.com/services/x',
    'https://hooks.slack.com.evil.example/',
    'https://hooks.slack.com:8443/',
    'https://hooks.example.com/',
    'https://evilhooks.example.com/',
    'https://hooks.slack.com@evil.example/',
    'https://chat.example.com:8443/',
    'http://chat.example.com/',
    'https://chat.internal:8065/',
    'http://chat.internal/',
    'http://169.254.169.254/latest/meta-data',
    'https://kubernetes.default.svc/api',
    'smtp://mail.example.com:25',
    'smtp://127.0.0.1:587',
    'file:///etc/passwd',
    'data:text/plain,x',
  ])
    it(`may not have the URL ${url}`, () => assert.ok(!isAllowedHost(new URL(url), hosts)));
});
