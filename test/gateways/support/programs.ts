import { join } from "node:path";
import type { GatewayProgram } from "./gateway.ts";

const isRoot = process.getuid?.() === 0;

export const nginx: GatewayProgram = {
  name: "nginx",
  program: "nginx",
  version: ["-v"],
  config: ({ port, servicePort, folder }) => `
    ${isRoot ? "user root;" : ""}
    daemon off;
    pid ${folder}/pid;
    error_log ${folder}/error.log;
    events {}
    http {
      access_log off;
      client_body_temp_path ${folder}/temp;
      proxy_temp_path ${folder}/temp;
      fastcgi_temp_path ${folder}/temp;
      uwsgi_temp_path ${folder}/temp;
      scgi_temp_path ${folder}/temp;
      keepalive_timeout 1s;
      client_max_body_size 100k;
      upstream service { server 127.0.0.1:${servicePort}; keepalive 16; }
      server {
        listen 127.0.0.1:${port};
        location / {
          proxy_pass http://service;
          proxy_http_version 1.1;
          proxy_set_header Connection "";
          proxy_set_header Host $host;
          proxy_read_timeout 3s;
        }
      }
    }
  `,
  start: (file, { folder }) => ["-c", file, "-p", folder, "-e", join(folder, "error.log")],
  reload: "SIGHUP",
};

export const haproxy: GatewayProgram = {
  name: "HAProxy",
  program: "haproxy",
  version: ["-v"],
  config: ({ port, servicePort }) => `
global
  maxconn 1000
defaults
  mode http
  timeout connect 1s
  timeout client 30s
  timeout server 3s
  timeout http-keep-alive 1s
frontend in
  bind 127.0.0.1:${port}
  default_backend service
backend service
  server one 127.0.0.1:${servicePort}
`,
  start: (file, { folder }) => ["-W", "-db", "-f", file, "-p", join(folder, "pid")],
  reload: "SIGUSR2",
};

export const varnish: GatewayProgram = {
  name: "Varnish",
  program: "varnishd",
  version: ["-V"],
  config: ({ servicePort }) => `vcl 4.1;
    backend default {
      .host = "127.0.0.1"; .port = "${servicePort}"; .connect_timeout = 1s; .first_byte_timeout = 3s; .between_bytes_timeout = 3s;
    }
    sub vcl_recv { return (pass); }
  `,
  start: (file, { port, folder }) => [
    ...["-F", "-j", "none", "-a", `127.0.0.1:${port}`, "-f", file, "-n", join(folder, "varnish")],
    ...["-s", "malloc,16m", "-p", "timeout_idle=1"],
  ],
  reload: (file, { folder }) => {
    const name = `at${Date.now()}`;
    return [
      ["varnishadm", "-n", join(folder, "varnish"), "vcl.load", name, file],
      ["varnishadm", "-n", join(folder, "varnish"), "vcl.use", name],
    ];
  },
};

export const apache: GatewayProgram = {
  name: "Apache httpd",
  program: "apache2",
  version: ["-v"],
  config: ({ port, servicePort, folder }) => `
    ServerRoot ${folder}
    ServerName localhost
    PidFile ${folder}/pid
    DefaultRuntimeDir ${folder}
    Mutex pthread
    ErrorLog ${folder}/error.log
    ${isRoot ? "User www-data\nGroup www-data" : ""}
    Listen 127.0.0.1:${port}
    ${["mpm_event", "authz_core", "proxy", "proxy_http"]
      .map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`)
      .join("\n")}
    KeepAliveTimeout 1
    MaxKeepAliveRequests 0
    LimitRequestBody 102400
    ProxyPass / http://127.0.0.1:${servicePort}/ timeout=3
  `,
  start: (file) => ["-f", file, "-D", "FOREGROUND"],
  reload: "SIGUSR1",
};

export const squid: GatewayProgram = {
  name: "Squid",
  program: "squid",
  version: ["-v"],
  config: ({ port, servicePort, folder }) => `
http_port 127.0.0.1:${port} accel defaultsite=127.0.0.1 no-vhost
cache_peer 127.0.0.1 parent ${servicePort} 0 no-query originserver login=PASSTHRU name=service
http_access allow all
cache deny all
pid_filename none
access_log none
cache_log /dev/null
coredump_dir ${folder}
cache_mem 8 MB
client_idle_pconn_timeout 1 second
read_timeout 3 seconds
shutdown_lifetime 0 seconds
pinger_enable off
`,
  // Its shared memory is named after the service: two without a name stop each other.
  start: (file, { port }) => ["-N", "-n", `touchpoint${port}`, "-f", file],
  reload: "SIGHUP",
};

export const caddy: GatewayProgram = {
  name: "Caddy",
  program: "caddy",
  version: ["version"],
  config: ({ port, servicePort, adminPort }) => `{
	admin 127.0.0.1:${adminPort}
	auto_https off
	servers {
		timeouts {
			idle 1s
		}
	}
}
http://127.0.0.1:${port} {
	request_body {
		max_size 100KB
	}
	reverse_proxy 127.0.0.1:${servicePort} {
		transport http {
			response_header_timeout 3s
			read_timeout 3s
		}
	}
}
`,
  start: (file) => ["run", "--adapter", "caddyfile", "--config", file],
  reload: (file, { adminPort }) => [
    [
      ...["caddy", "reload", "--force", "--adapter", "caddyfile", "--config", file],
      ...["--address", `127.0.0.1:${adminPort}`],
    ],
  ],
};
