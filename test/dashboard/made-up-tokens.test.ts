import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ann } from '../service/api/sample-policies.ts';
import { openDashboard, sessions, vouching } from './start-dashboard.ts';

test('a flood of made-up tokens stops neither a session nor the sign-in of another client', async (t) => {
  const auth = { ...ann('list *'), vouching };
  const before = openDashboard(t, { auth, identification: sessions });
  assert.equal((await before.submit('/sign-in', { token: 'anns-token' })).status, 303);

  // A new process knows no token yet.
  const { get, submit, cookies } = openDashboard(t, { auth, identification: sessions, more: { requestsPerMinute: 40 } });
  const from = (client: string) => ({ 'sec-fetch-site': 'same-origin', 'x-forwarded-for': client });
  const guess = (tries: number) => submit('/sign-in', { token: `guess-${tries}` }, from('192.0.2.1'));
  const answers = new Set<number>();
  for (let tries = 0; tries < 50; tries++) answers.add((await guess(tries)).status);
  assert.deepEqual(answers, new Set([401, 429]));
  assert.equal((await submit('/sign-in', { token: 'anns-token' }, from('192.0.2.2'))).status, 303);
  cookies.clear();
  for (const [name, value] of before.cookies) cookies.set(name, value);
  for (let tries = 0; tries < 40; tries++) assert.equal((await get('/setup', from('192.0.2.1'))).status, 200);
  assert.equal((await get('/setup', from('192.0.2.1'))).status, 429);

  // Nobody but the dashboard says for whom a token is sent.
  cookies.clear();
  const headers = {
    authorization: 'Bearer another-guess',
    'x-dashboard-vouch': vouching.sign({ client: '192.0.2.3', isSession: true }, 'guess'),
  };
  assert.equal((await get('/api/v1/events', { ...headers, 'x-forwarded-for': '192.0.2.1' })).status, 429);
});
