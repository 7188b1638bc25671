/** The small installation of `example.ts`, in which two policies do not apply a fix. */
import type { ImagePolicy } from '../../src/core/model/image-policy.ts';
import type { PolicyStatus } from '../../src/core/model/policy-status.ts';
import { digestOf } from '../core/model/samples.ts';
import { at } from './example-policies.ts';
import { exampleOptions } from './example.ts';

/** What is known of an image of a policy of the example. */
function assessed({ name, status }: ImagePolicy, tag: string): Pick<PolicyStatus, 'targets' | 'vulnerabilities'> {
  const image = `harbor.example.com/shop/${name}:${status.running ?? ''}`;
  return {
    targets: [{ kind: 'Deployment', namespace: 'shop', name, container: name, image, state: 'Kept' }],
    vulnerabilities: [
      {
        tag,
        digest: status.latest?.digest ?? '',
        at: at(39),
        by: 'trivy on 2026-03-01T10:50:00Z (Harbor)',
        highest: 'Low',
        replaces: [
          {
            image,
            digest: digestOf('0'),
            fixes: [
              { id: 'CVE-2026-21345', severity: 'Critical' },
              { id: 'GHSA-4r6h-8v6p-xvw6', severity: 'High' },
              { id: 'CVE-2025-60012', severity: 'Medium' },
            ],
            adds: [{ id: 'CVE-2026-20077', severity: 'Low' }],
          },
        ],
        problems: ['grype on 2026-02-01T10:50:00Z (harbor.example.com) is older than 168h (verify.vulnerabilities.maxAge)'],
      },
    ],
  };
}

const fixes: Readonly<Record<string, string>> = { 'shop/stock': '0.9.4', 'shop/cart': '1.9.0' };

/** The options for `openDashboard`: shop/stock waits for its window, and shop/cart for approval. */
export function fixOptions() {
  const { policies, ...options } = exampleOptions();
  const all = policies.all().map((one) => {
    const tag = fixes[`${one.namespace}/${one.name}`];
    return tag === undefined ? one : { ...one, status: { ...one.status, ...assessed(one, tag) } };
  });
  const find = (namespace: string, name: string) => all.find((one) => one.namespace === namespace && one.name === name);
  return { ...options, policies: { ...policies, all: () => all, find } };
}
