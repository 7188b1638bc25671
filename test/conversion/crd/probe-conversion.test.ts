import assert from 'node:assert/strict';
import { networkInterfaces } from 'node:os';
import { after, before, describe, it } from 'node:test';
import { conversionSamples } from '../../../src/conversion/plan-definition.ts';
import { convertReview } from '../../../src/conversion/convert-review.ts';
import { openKubeClient, type KubeClient } from '../../../src/service/kube/client.ts';
import { probeConversion } from '../../../src/conversion/crd/check-conversion.ts';
import { type ControlPlane, borrowControlPlane } from '../../harness/control-plane.ts';
import { type AnswerReview, type ConversionEndpoint, startConversionEndpoint } from '../../harness/conversion-endpoint.ts';

const sample = { object: conversionSamples.v1, desiredApiVersion: 'operator.technomad.dev/v1alpha1' };
// The API server forwards to no loopback address.
const address = Object.values(networkInterfaces())
  .flat()
  .find((one) => one?.family === 'IPv4' && !one.internal)?.address;

describe(
  'a conversion Service probed through the API server',
  { skip: address === undefined && 'this machine has no address but loopback ones' },
  () => {
    let cluster: ControlPlane;
    let client: KubeClient;
    let endpoint: ConversionEndpoint;
    before(async () => {
      [cluster, endpoint] = await Promise.all([borrowControlPlane(), startConversionEndpoint(convertReview, address)]);
      client = await openKubeClient({ kubeconfig: cluster.kubeconfigPath, requestTimeoutMs: 60_000 });
      const metadata = { name: 'convert' };
      const port = Number(new URL(endpoint.url).port);
      await cluster.request('POST', '/api/v1/namespaces/default/services', {
        metadata,
        spec: { ports: [{ port: 443, targetPort: port }] },
      });
      // It also forwards to pods only.
      const containers = [{ name: 'convert', image: 'example.com/convert' }];
      await cluster.request('POST', '/api/v1/namespaces/default/pods', { metadata, spec: { containers } });
      await cluster.request('PATCH', '/api/v1/namespaces/default/pods/convert/status', {
        status: { podIP: address, podIPs: [{ ip: address }] },
      });
      const targetRef = { kind: 'Pod', namespace: 'default', name: 'convert' };
      await cluster.request('POST', '/api/v1/namespaces/default/endpoints', {
        metadata,
        subsets: [{ addresses: [{ ip: address, targetRef }], ports: [{ port }] }],
      });
    });
    after(async () => {
      await client.close();
      await Promise.all([cluster.stop(), endpoint.stop()]);
    });

    const service = { namespace: 'default', name: 'convert', port: 443, path: '/convert' };
    it('passes the probe if it answers', () => probeConversion(client, { service }, sample));

    it('fails the probe if it does not exist or does not answer', async () => {
      await assert.rejects(
        probeConversion(client, { service: { ...service, name: 'nobody' } }, sample),
        /\(Service default\/nobody\) does not answer: .*--skip-probe/,
      );
      await endpoint.stop();
      await assert.rejects(probeConversion(client, { service }, sample), /does not answer: /);
    });
  },
);

describe('a conversion URL', () => {
  const client = {} as KubeClient;
  const wrong: [name: string, answer: AnswerReview, message: RegExp][] = [
    ['another status', () => ({ status: 503, body: 'starting' }), /does not answer: status 503: "starting"/],
    ['no review', () => ({ status: 200, body: [] }), /not a ConversionReview with a response/],
    [
      'a failure',
      () => ({ status: 200, body: { response: { uid: '1', result: { status: 'Failure', message: 'no idea' } } } }),
      /does not convert: no idea/,
    ],
    ['another uid', () => ({ status: 200, body: { response: { uid: '1', result: { status: 'Success' } } } }), /another uid/],
    [
      'no object',
      (body) => ({ status: 200, body: { response: { ...(body as { request: object }).request, result: { status: 'Success' } } } }),
      /returns no object instead of operator.technomad.dev\/v1alpha1/,
    ],
  ];
  for (const [name, answer, message] of wrong) {
    it(`fails the probe if it answers with ${name}`, async () => {
      const endpoint = await startConversionEndpoint(answer);
      try {
        const caBundle = Buffer.from(endpoint.caPem).toString('base64');
        await assert.rejects(probeConversion(client, { url: endpoint.url, caBundle }, sample), message);
      } finally {
        await endpoint.stop();
      }
    });
  }
});
