/** The reference of the API on pages: every route with its parameters, answers, examples and types. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createActivityRoutes } from '../../src/activity/routes.ts';
import { createBaseRoutes } from '../../src/bases/api/routes.ts';
import { routes as own } from '../../src/service/api/routes/index.ts';
import { openDashboard } from './start-dashboard.ts';

const added = { features: ['activity', 'bases'], routes: [...createActivityRoutes(undefined), ...createBaseRoutes(undefined)] };
const routes = [...own, ...added.routes];

test('the API reference lists every route, and the page of each has its parameters, types and targets of links', async (t) => {
  const { get } = openDashboard(t, { added });
  const { text: list } = await get('/api-reference');
  for (const { id, method, path, query, params } of routes) {
    assert.ok(list.includes(`<a href="/api-reference/${id}"><code>${method} /api/v1${path}</code></a>`), id);
    const { status, text } = await get(`/api-reference/${id}`);
    assert.equal(status, 200, id);
    assert.match(text, /<code>NotFound<\/code>|<code>Unauthenticated<\/code>/, id);
    for (const name of [...Object.keys(query?.shape ?? {}), ...Object.keys(params?.shape ?? {})])
      assert.ok(text.includes(`<th scope="row"><code>${name}</code></th>`), `${id}: ${name}`);
    const ids = new Set([...text.matchAll(/ id="(schema-\w+)"/g)].map(([, one]) => one));
    const links = [...text.matchAll(/href="#(schema-\w+)"/g)].map(([, one]) => one);
    assert.deepEqual(
      links.filter((one) => !ids.has(one)),
      [],
      id,
    );
    assert.doesNotMatch(text, /undefined|\[object|NaN/, id);
  }
});

test('a page of the API reference shows examples of body and answer, and folded types', async (t) => {
  const { get } = openDashboard(t);
  const { text } = await get('/api-reference/approvePolicy', { 'accept-language': 'en' });
  assert.match(text, /<code>POST \/api\/v1\/policies\/\{namespace\}\/\{name\}\/approve<\/code>/);
  assert.match(text, /&quot;reason&quot;: &quot;tested on staging&quot;/);
  assert.match(text, /Answer 202<\/h2>/);
  assert.match(text, /<details><summary><code>ApprovePolicyRequest<\/code><\/summary><div id="schema-ApprovePolicyRequest">/);
  const { text: stream } = await get('/api-reference/streamPolicies');
  assert.match(stream, /text\/event-stream/);
  assert.match(stream, /event: policy\ndata: \{&quot;namespace&quot;:&quot;shop&quot;/);
});

const everyPage = [
  '/api-reference',
  '/api-reference/approvePolicy',
  '/api-reference/getPolicy',
  '/api-reference/getOverview',
  '/api-reference/listCauses',
  '/api-reference/streamPolicies',
];

for (const language of ['en', 'zh-CN'])
  test(`every page of the API reference is shown in ${language}, with nothing that the security policy forbids`, async (t) => {
    const { get } = openDashboard(t);
    for (const url of everyPage) {
      const { status, text } = await get(url, { 'accept-language': language });
      assert.equal(status, 200, url);
      assert.doesNotMatch(text, /<[^>]+\s(?:style|on\w+)=|<script>|<style|javascript:|undefined|\[object|NaN/, url);
      assert.ok(text.includes(`<html lang="${language}">`), url);
    }
  });

test('the API reference has no page for a route that the API does not have', async (t) => {
  const { get } = openDashboard(t);
  for (const name of ['listBases', 'constructor', '__proto__', '%3Cscript%3E']) {
    const { status, text } = await get(`/api-reference/${name}`);
    assert.equal(status, 404, name);
    assert.doesNotMatch(text, /<script>/);
  }
});

test('the API document is a file, and each page links to the API reference', async (t) => {
  const { app, get } = openDashboard(t, { added });
  const { text, headers } = await get('/api-reference.json');
  assert.match(String(headers['content-type']), /^application\/json/);
  const served = await app.inject({ url: '/api/v1/openapi.json', headers: { host: 'localhost:9090' } });
  assert.deepEqual(JSON.parse(text), served.json());
  assert.match((await get('/policies')).text, /<footer>.*href="\/api-reference"/s);
});
