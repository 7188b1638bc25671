/** The metadata of objects, as the API server sets it. */
import fc from 'fast-check';
import type { JsonObject } from '../../../src/core/model/untyped.ts';
import { dateTime, wire } from './arbitraries.ts';
import { some } from './arbitrary-parts.ts';
import { label } from './selector-arbitrary.ts';

const oneOrMore = { minKeys: 1, noNullPrototype: true };

/** Metadata as the API server sets it; the object lies in the namespace shop. */
export const metadataArbitrary: fc.Arbitrary<JsonObject> = wire(
  some(
    {
      name: fc.constantFrom('web', 'api'),
      namespace: fc.constant('shop'),
      uid: fc.uuid(),
      resourceVersion: fc.nat().map(String),
      generation: fc.integer({ min: 1, max: 100 }),
      labels: fc.dictionary(fc.constantFrom('app', 'tier'), label, oneOrMore),
      annotations: fc.dictionary(fc.constantFrom('a.example.com/x', 'constructor', '__proto__'), fc.string(), oneOrMore),
      managedFields: fc.constant([{ manager: 'kubectl', operation: 'Update', fieldsV1: { 'f:spec': {} } }]),
      deletionTimestamp: dateTime,
      finalizers: fc.constant(['example.com/x']),
    },
    ['name', 'namespace', 'uid', 'resourceVersion', 'generation'],
  ),
);
