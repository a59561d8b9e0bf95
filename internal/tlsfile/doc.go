// Package tlsfile makes TLS client configurations from files of certificates, keys and authorities, and makes them anew
// when the files change, so that a rotated certificate is used without a restart.
//
// It watches nothing: whoever is about to connect asks for the configuration, and a look at the files' dates decides
// whether they are read again. What is dialled, and what becomes of connections that stand, is for the caller.
package tlsfile
