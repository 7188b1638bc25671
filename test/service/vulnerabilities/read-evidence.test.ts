import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noEvidence, type Evidence } from '../../../src/core/model/vulnerabilities.ts';
import { createEvidenceReader, type EvidenceRequest, type EvidenceSource } from '../../../src/service/vulnerabilities/read-evidence.ts';

const request: EvidenceRequest = {
  source: { registry: 'registry.example.com', path: 'shop/web' },
  digest: `sha256:${'a'.repeat(64)}`,
  rules: { harbor: true, trivyOperator: false, maxAgeMs: 1_000 },
  namespace: 'shop',
  targetNamespaces: ['shop'],
};
const report = { scanner: 'trivy', by: 'a test', scannedMs: 1, advisories: [] };
const source = (name: string, read: () => Promise<Evidence>, isWanted = true): EvidenceSource => ({ name, isWanted: () => isWanted, read });

test('all wanted sources of evidence are read, and a failing one is a problem of the evidence', async () => {
  const read = createEvidenceReader([
    source('one', async () => ({ ...noEvidence, reports: [report] })),
    source('two', () => Promise.reject(new Error('connection refused'))),
    source('three', () => assert.fail('not wanted'), false),
  ]);
  const problems = ['two could not be asked: connection refused'];
  assert.deepEqual(await read(request, AbortSignal.timeout(60_000)), { reports: [report], statements: [], problems });
});

test('reading evidence rejects when it is aborted', async () => {
  const aborted = AbortSignal.abort(new Error('stopped'));
  const read = createEvidenceReader([source('one', () => Promise.reject(new Error('stopped')))]);
  await assert.rejects(read(request, aborted), /stopped/);
});
