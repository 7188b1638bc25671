import type { ServiceWing } from '../service/compose/wing.ts';
import { composeConvert } from './compose-convert.ts';
import { readConversionCertificate } from './read-certificate.ts';

/** The role `convert`. */
export const service: ServiceWing = { convert: composeConvert, readConversionCertificate };
