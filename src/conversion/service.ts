import type { ServiceWing } from '../service/compose/wing.ts';
import { composeConvert } from './compose-convert.ts';
import { readConversionCertificate } from './read-certificate.ts';

/** The part of the wing in the service: the role `convert`. */
export const service: ServiceWing = { convert: composeConvert, readConversionCertificate };
