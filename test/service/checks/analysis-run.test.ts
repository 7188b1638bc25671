/** What an AnalysisRun is made of, and when it is not made. The same with the definitions of Argo Rollouts: test/end-to-end/check-analysis.test.ts. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { analysisTemplate, runSpecOf } from '../../../src/service/checks/analysis-run.ts';

const tenMinutes = 600_000;
const values = { image: 'harbor.example.com/shop/web:1.3.0', tag: '1.3.0', policy: 'web' };
const prometheus = { prometheus: { address: 'http://prometheus:9090', query: 'up{version="{{args.tag}}"}' } };
const metric = { name: 'success-rate', successCondition: 'result[0] >= 0.95', provider: prometheus };
const specOf = (spec: object, timeoutMs = tenMinutes) =>
  runSpecOf(analysisTemplate.parse({ metadata: {}, spec: { metrics: [metric], ...spec } }), values, timeoutMs);
const fromSecret = (name: string) => ({ name, valueFrom: { secretKeyRef: { name: 'api', key: 'token' } } });

describe('the spec of an AnalysisRun', () => {
  it('is the spec of the template, with args by name, and resolves no reference in it', () => {
    const template = {
      metrics: [
        { ...metric, count: 3, interval: '1m', failureLimit: 1 },
        { ...metric, name: 'tried' },
      ],
      args: [{ name: 'tag' }, { name: 'image', value: 'own' }, { name: 'service', value: 'web' }, fromSecret('token')],
      dryRun: [{ metricName: 'tried' }],
      measurementRetention: [{ metricName: '.*', limit: 20 }],
    };
    assert.deepEqual(specOf(template), {
      ...template,
      args: [
        { name: 'tag', value: '1.3.0' },
        { name: 'image', value: values.image },
        { name: 'service', value: 'web' },
        fromSecret('token'),
      ],
    });
  });
  it('contains no args that the template does not declare', () => assert.deepEqual(specOf({}), { metrics: [metric] }));

  const timed = (fields: object, args: readonly object[] = []) => specOf({ metrics: [{ ...metric, ...fields }], args });
  const refused: readonly (readonly [what: string, spec: object | string, why: RegExp])[] = [
    ['there are no metrics', specOf({ metrics: [] }), /has no metrics/],
    ['it refers to others', specOf({ templates: [{ templateName: 'x', clusterScope: true }] }), /made of other templates/],
    ['an arg has no value', specOf({ args: [{ name: 'service' }] }), /its arg service has no value/],
    ['an arg is the digest of an image without one', specOf({ args: [{ name: 'digest' }] }), /its arg digest has no value/],
    ['an arg is a field of a Rollout', specOf({ args: [{ name: 'x', valueFrom: { fieldRef: { fieldPath: 'a' } } }] }), /its arg x has no/],
    ['a metric goes on for ever', timed({ interval: '1m' }), /end of its metric success-rate is not known/],
    ['a metric goes on for ever by a count of 0', timed({ interval: '1m', count: 0 }), /is not known/],
    ['a count is no number', timed({ interval: '1m', count: 'many' }), /is not known/],
    ['a count comes from a Secret', timed({ interval: '1m', count: '{{args.n}}' }, [fromSecret('n')]), /is not known/],
    ['a count comes from an unknown arg', timed({ interval: '1m', count: '{{args.n}}' }), /is not known/],
    ['an interval is no duration', timed({ interval: '1 minute', count: 2 }), /is not known/],
    ['it takes longer than the check', timed({ interval: '5m', count: 4 }), /takes at least 15m, and the timeout of the check is 10m/],
    ['it begins after the end', timed({ initialDelay: '1h' }), /takes at least 1h/],
    ['a count by an arg is too high', timed({ interval: '5m', count: '{{ args.n }}' }, [{ name: 'n', value: '9' }]), /at least 40m/],
  ];
  for (const [what, spec, why] of refused) {
    it(`is not made where ${what}`, () => {
      assert.match(typeof spec === 'string' ? spec : JSON.stringify(spec), why);
    });
  }
  const accepted: readonly (readonly [string, object | string])[] = [
    ['one measurement', timed({})],
    ['a count of 1 without an interval', timed({ count: 1 })],
    ['as long as the check', timed({ interval: '2.5m', count: '5' })],
    [
      'a count and an interval by args',
      timed({ interval: '{{args.i}}', count: '{{args.n}}' }, [
        { name: 'i', value: '90s' },
        { name: 'n', value: '2' },
      ]),
    ],
    ['milliseconds', timed({ interval: '1m500ms', count: 2 })],
  ];
  for (const [what, spec] of accepted) it(`is made with ${what}`, () => assert.equal(typeof spec, 'object', JSON.stringify(spec)));
  it('is computed at little cost for a text of any length', () =>
    assert.match(JSON.stringify(timed({ interval: '1'.repeat(500_000), count: 2 })), /is not known/));
});
