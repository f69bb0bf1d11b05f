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
