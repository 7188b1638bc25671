import { verifyAnyHeader } from './headers.ts';
import { harbor } from './harbor.ts';
import type { Provider } from './provider.ts';

/** Tencent Container Registry, enterprise edition: the format of Harbor 1.x, and headers that the user makes up. */
export const tencent: Provider = {
  id: 'tencent',
  documentation: 'https://cloud.tencent.com/document/product/1141/44369',
  verify: verifyAnyHeader,
  parse: (delivery) => harbor.parse(delivery),
};
