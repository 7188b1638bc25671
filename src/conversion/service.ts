import type { ServiceWing } from '../service/compose/wing.ts';
import { readConversionCertificate } from './read-certificate.ts';

/** The part of the wing in the service: the role `convert`, which is imported where a process has it. */
export const service: ServiceWing = {
  convert: async (foundation) => (await import('./compose-convert.ts')).composeConvert(foundation),
  readConversionCertificate,
};
