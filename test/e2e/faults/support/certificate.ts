const pem = (label: string, base64: string): string =>
  `-----BEGIN ${label}-----\n${base64}\n-----END ${label}-----\n`;

/** Signed by itself for localhost, so that no client may trust it; good for nothing else. */
export const selfSigned = {
  key: pem(
    "PRIVATE KEY",
    `MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgXO5AKk5KqIqePz2i
p6+yPriz1yX5qW1UXNy5iSwY4tGhRANCAATEbe6eqdHpvUGiA/B5JeiLf6cSfjb1
ThB0c4NprGxSBm0e8WCVWrmXbVnV2AIuY+I5Jai0mwAXGT9/o8znFSow`,
  ),
  cert: pem(
    "CERTIFICATE",
    `MIIBfzCCASWgAwIBAgIUJzzs2xokyiHK2Oy8pJ979WCO7igwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMTA3NTgyN1oYDzIxMjYxMDI4
MDc1ODI3WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAATEbe6eqdHpvUGiA/B5JeiLf6cSfjb1ThB0c4NprGxSBm0e8WCVWrmX
bVnV2AIuY+I5Jai0mwAXGT9/o8znFSowo1MwUTAdBgNVHQ4EFgQUK3dP/3yXJUMi
soRFgSSeEI+2WQkwHwYDVR0jBBgwFoAUK3dP/3yXJUMisoRFgSSeEI+2WQkwDwYD
VR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiEAnQiDspDau809zjWa8sk+
HAZb9MQgBC+jmxBEA0LFV1ACIGFsI6wKPAVL0PS3OWS+lDOwpBWCoijJMtHLYgfM
YHVa`,
  ),
};

/** For service.localhost, trusted by whoever is told to trust it. */
export const trusted = {
  key: pem(
    "PRIVATE KEY",
    `MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgEaDWQOAknxHfbg1r
kQGClUmmsp9mZr7AuWqomN18dAWhRANCAAQviXURRielZcq39jwqgA+AF5lMqwQd
J9UHdBnQYBEvMqwmXSMA/rr037hFV4gMkqBhtJ0pk/PxsZB2a0KgT7PZ`,
  ),
  cert: pem(
    "CERTIFICATE",
    `MIIBnDCCAUOgAwIBAgIUN9ogCaDy6x8rw0vHrKvdq8xt0pIwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMTIyMzkxMVoYDzIxMjYxMDI4
MjIzOTExWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAQviXURRielZcq39jwqgA+AF5lMqwQdJ9UHdBnQYBEvMqwmXSMA/rr0
37hFV4gMkqBhtJ0pk/PxsZB2a0KgT7PZo3EwbzAdBgNVHQ4EFgQU0/3XtJk6o7fq
wtDpRPK9n51b03QwHwYDVR0jBBgwFoAU0/3XtJk6o7fqwtDpRPK9n51b03QwDwYD
VR0TAQH/BAUwAwEB/zAcBgNVHREEFTATghFzZXJ2aWNlLmxvY2FsaG9zdDAKBggq
hkjOPQQDAgNHADBEAiAf3LK83f5WrumzqydEkkW+tLNpMzUEfhgm0oWouMOtagIg
Y2pIfNdUaQ1QkAZVdiSstJc1nZxMZEQfnkSKnAdf4Pk=`,
  ),
};
