import { ghcr } from '../../../src/receive/providers/ghcr.ts';
import { testProvider } from './conformance.ts';

testProvider({ provider: ghcr, credentials: ['x-hub-signature-256'] });
