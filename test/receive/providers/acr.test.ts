import { acr } from '../../../src/receive/providers/acr.ts';
import { testProvider } from './conformance.ts';

testProvider({ provider: acr, credentials: ['authorization'] });
