import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hostsOf } from '../../../src/service/compose/registries.ts';

test('a receiver names the hosts of its registry and of its repositories', () => {
  assert.deepEqual(hostsOf({ registry: 'registry.example.com:5000' }), ['registry.example.com:5000']);
  const repositories = { docker: '{key}.example.com', mirror: ['example.com:5001', 'example.com/docker/mirror'] };
  assert.deepEqual(hostsOf({ repositories }), ['docker.example.com', 'example.com:5001', 'example.com']);
  assert.deepEqual(hostsOf({}), []);
});
