/** The kind BaseImagePolicy, as the API group has it. */
import { readyColumns } from '../../service/resources/definitions.ts';
import { baseKind, basePlural, baseShortName } from '../../service/resources/group.ts';
import type { AddedKind } from '../../service/resources/kinds.ts';
import { baseSchema, baseSpecSchema } from './schema.ts';

export const baseImagePolicy: AddedKind = {
  kind: baseKind,
  plural: basePlural,
  shortName: baseShortName,
  schema: baseSchema,
  specSchema: baseSpecSchema,
  columns: [
    { name: 'Image', type: 'string', jsonPath: '.spec.image' },
    { name: 'Latest', type: 'string', jsonPath: '.status.latest.tag' },
    { name: 'Images', type: 'integer', jsonPath: '.status.images.total' },
    { name: 'Current', type: 'integer', jsonPath: '.status.images.current' },
    { name: 'Behind', type: 'integer', jsonPath: '.status.images.behind' },
    { name: 'Unknown', type: 'integer', jsonPath: '.status.images.unknown', priority: 1 },
    ...readyColumns,
  ],
};
